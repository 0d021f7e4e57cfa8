# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document beside the program: its routes, and what a real server answers to each of its examples."""
import glob
import json
import os
import re
import subprocess
import urllib.parse

from harness import BINARY, SLOW, case, main
from openapi_check import Document
from server_harness import Server, until

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'server')
JSON = 'application/json'
# Of the connection and the message, in answers of any server.
PLAIN_HEADERS = {'date', 'connection', 'content-length', 'content-type', 'transfer-encoding'}


def source(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as f:
        return f.read()


def document(s):
    return Document(s.get('/openapi.json').json)


def table():
    """The program's routes: (method, path) to names of the query, the capability's name, and whether there is a body."""
    rows = re.findall(r'\{"([A-Z]+)", "(/[^"]*)", h_\w+, (\w+), "([^"]*)",\s*(\w+),\s*(\w+)\}', source('routes.c'))
    assert len(rows) == source('routes.c').count('\n    {"'), 'a route is not of the form that this reads'
    return {(method, path): (query, None if cap == 'ROUTE_OPEN' else cap[len('APIKEY_'):].lower(),
                             most != '0' or piece != 'NULL') for method, path, cap, query, most, piece in rows}


# ---- the document beside the sources ----

@case
def the_document_is_sound(t):
    with Server(t) as s:
        r = s.get('/openapi.json')
        t.equal((r.status, r.headers['Content-Type']), (200, JSON))
        doc = Document(r.json)
        t.ok(b'/openapi.json' in s.get('/').body)
    t.ok(doc.tree['openapi'].startswith('3.1.'))
    for where, thing in doc.each():
        if '$ref' in thing:
            try:
                doc.find(thing['$ref'])
            except KeyError:
                t.fail(f'{where}: {thing["$ref"]} is not there')
    for kind, things in doc.tree['components'].items():
        for name in things:
            t.ok(kind == 'securitySchemes' or f'#/components/{kind}/{name}' in doc.used, f'{kind}/{name} is used')
    tags = {x['name'] for x in doc.tree['tags']}
    for op in doc.operations.values():
        t.ok(op.body['summary'] and set(op.body['tags']) <= tags, op.id)
        t.equal(op.names('path'), re.findall(r'\{(\w+)\}', op.path), op.id)
        t.ok({400, 413, 431, 500, 503} <= set(op.responses), op.id)
        t.equal(op.capability is not None, 401 in op.responses, op.id)


@case
def every_route_and_no_other(t):
    with Server(t) as s:
        doc = document(s)
    mine, theirs = {}, table()
    for op in doc.operations.values():
        path = re.sub(r'\{\w+\}', '{}', re.sub(r'\{path\}', '{*}', op.path))
        mine[op.method, path] = (set(op.names('query')), op.capability and op.capability.replace('.', '_'), bool(op.request))
    t.equal(sorted(set(theirs) - set(mine)), [], 'routes that the document lacks')
    t.equal(sorted(set(mine) - set(theirs)), [], 'routes that there are not')
    for route in sorted(set(mine) & set(theirs)):
        words, *rest = theirs[route]
        t.equal(mine[route], (set(words.split()), *rest), route)
    t.ok(len(theirs) > 25)


@case
def every_field_and_no_other(t):
    """Names and kinds of the members that handlers take, beside those of the schemas of requests."""
    kinds = {'TEXT': 'string', 'NUMBER': 'integer', 'FLAG': 'boolean', 'TEXTS': 'array', 'PAIRS': 'object', 'VALUE': None}
    taken = set()
    for path in glob.glob(os.path.join(SOURCE, 'h_*.c')):
        taken |= {(name, kinds[kind]) for name, kind in re.findall(r'\{"(\w+)", API_(\w+),', source(os.path.basename(path)))}
    with Server(t) as s:
        doc = document(s)
    said = set()

    def collect(schema):
        schema = doc.follow(schema)
        for one in schema.get('oneOf', []):
            collect(one)
        if 'items' in schema:
            collect(schema['items'])
        rest = schema.get('additionalProperties')
        t.ok('properties' not in schema or rest is False, 'a body takes no other member')
        if isinstance(rest, dict):
            collect(rest)
        for name, v in schema.get('properties', {}).items():
            said.add((name, str(doc.follow(v).get('type'))))
            if name != 'policy':  # its members are those of wire/json_policy.c: server_policy.py
                collect(v)
    for op in doc.operations.values():
        if op.request_type == JSON:
            collect(op.request['content'][JSON]['schema'])
    values = {name for name, kind in taken if kind is None}
    t.equal({x for x in taken if x[1]} - said, set(), 'fields that the document lacks')
    t.equal(values - {name for name, _ in said}, set(), 'fields that the document lacks')
    t.equal({x for x in said if x[0] not in values} - taken, set(), 'fields that there are not')


@case
def every_field_of_an_event(t):
    """Types of events, their fields and the words of these, beside the tables that write a log as JSON."""
    path = os.path.join(SOURCE, '..', 'trace', 'schema.c')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    words = {name: re.findall(r'"(\w+)"', row)
             for name, row in re.findall(r'static const char \*const (\w+)\[\] = \{([^}]*)\};', text)}
    tables = dict(re.findall(r'static const struct trace_field (\w+)\[\] = \{(.*?)\n\};', text, re.S))
    rows = dict(re.findall(r'ROW\((TRACE_\w+), (\w+)\)', text))
    names = dict(re.findall(r'\[(TRACE_\w+)\] = "(\w+)"', text))
    with Server(t) as s:
        doc = document(s)
    said = {}
    for ref in doc.find('#/components/schemas/Event')['oneOf']:
        schema = doc.follow(ref)
        said[schema['properties']['type']['enum'][0]] = schema
    t.equal(set(said), set(names.values()))
    for type_, schema in said.items():
        table = tables[rows[next(k for k, v in names.items() if v == type_)]]
        fields = re.findall(r'(\w+)\(\w+, ([\w.]+)(?:, (\w+))?', table)
        want = {name.split('.')[0] for _, name, _ in fields} | ({'state'} if 'STATE(' in table else set())
        if 'outcome' in want:
            want = want - {'outcome'} | {'status', 'exit_code', 'signal', 'reason'}
        t.equal(set(schema['required']), want | {'seq', 'time', 'type'}, type_)
        extra = set(schema['properties']) - set(schema['required'])
        t.ok(all(x.removesuffix('_encoding') in want for x in extra), extra)
        for kind, name, list_ in fields:
            v = doc.follow(schema['properties'].get(name, {}))
            if list_ in words and 'outcome' not in name:
                t.equal((v['items'] if kind == 'FLAGS' else v)['enum'], words[list_], f'{type_}.{name}')
    t.equal(said['end']['properties']['status']['enum'], words['outcome_kinds'])


@case
def examples_fit_their_schemas(t):
    with Server(t) as s:
        doc = document(s)
    n = 0

    def check(what, content):
        nonlocal n
        values = [doc.follow(e)['value'] for e in content.get('examples', {}).values()]
        values += [content['example']] if 'example' in content else []
        t.ok(values, f'{what} has an example')
        for v in values:
            t.equal(doc.wrong(v, content['schema']), None, what)
            n += 1
    for op in doc.operations.values():
        for p in op.parameters:
            check(f'{op.id}: {p["name"]}', p)
        for kind, content in op.request.get('content', {}).items():
            check(f'{op.id}: {kind}', content)
        for status, r in op.responses.items():
            for kind, content in r.get('content', {}).items():
                check(f'{op.id}: {status} {kind}', content)
    t.ok(n > 300, n)


# ---- the document beside a server ----

class Client:
    """Sends what the document describes, and holds each answer against it."""

    def __init__(self, t, s):
        self.t, self.s, self.doc = t, s, document(s)
        self.sent, self.statuses = set(), {}

    def send(self, op_id, example=None, status=200, query=None, headers=None, body=None, **params):
        op = self.doc.operations[op_id]
        if example is not None:
            body = op.request_examples()[example]
            self.sent.add((op_id, example))
        params = {'session': 'demo', **params}
        path = re.sub(r'\{(\w+)\}', lambda m: urllib.parse.quote(params[m.group(1)], safe=''), op.path)
        path += '?' + urllib.parse.urlencode(query) if query else ''
        r = self.s.ask(op.method, path, body, headers)
        what = f'{op_id} {example or ""} {query or ""} {headers or ""}'
        self.t.equal(r.status, status, f'{what}: {r!r}')
        self.statuses.setdefault(op_id, set()).add(r.status)
        self.check(op, r, what)
        return r

    def check(self, op, r, what):
        if not self.t.ok(r.status in op.responses, f'{what}: {r.status} is not in the document'):
            return
        said = op.responses[r.status]
        kind = r.headers.get('Content-Type', '').split(';')[0]
        if op.method == 'HEAD' or 'content' not in said:
            self.t.equal(r.body, b'', what)
        elif self.t.ok(kind in said['content'], f'{what}: {kind} is not in the document'):
            value = r.json if kind == JSON else r.body.decode('latin-1')
            self.t.equal(self.doc.wrong(value, said['content'][kind]['schema']), None, what)
        known = {name.lower(): self.doc.follow(h) for name, h in said.get('headers', {}).items()}
        for name, h in known.items():
            # JSON of a file is its list or status, whose answers have no tag.
            if h.get('required') and not (op.id == 'getFile' and kind == JSON and r.status == 200):
                self.t.ok(name in r.headers, f'{what}: there is no {name}')
        for name, value in r.headers.items():
            if name.lower() in PLAIN_HEADERS:
                continue
            if self.t.ok(name.lower() in known, f'{what}: {name} is not in the document'):
                schema = self.doc.follow(known[name.lower()]['schema'])
                self.t.equal(self.doc.wrong(int(value) if schema['type'] == 'integer' else value, schema), None, what)

    def parameters_alone(self, op_id, status=200, but=(), **params):
        """Each parameter's example by itself."""
        for p in self.doc.operations[op_id].parameters:
            if p['in'] != 'path' and p['name'] not in but:
                where = 'headers' if p['in'] == 'header' else p['in']
                self.send(op_id, status=status, **{where: {p['name']: p['example']}}, **params)


def walk_server(c):
    page = c.send('getPage')
    c.t.ok(b'/openapi.json' in page.body)
    c.send('getOpenapi')
    c.send('getMetrics')
    c.send('getHealth')


def walk_sessions(c):
    made = c.send('createSession', 'settings', 201).json
    c.t.equal((made['name'], made['env'], made['idle_timeout_ms']), ('demo', {'PROJECT': 'demo'}, 120000))
    key = {'Idempotency-Key': 'once'}
    first = c.send('createSession', 'defaults', 201, headers=key).json
    c.t.equal(c.send('createSession', 'defaults', 201, headers=key).json, first)
    c.send('createSession', 'settings', 409, headers=key)
    c.send('createSession', 'settings', 409)
    c.send('createSession', body={'from': 'none'}, status=404)
    page = c.send('listSessions', query={'limit': 1}).json
    c.t.equal(page['next'], page['sessions'][0]['id'])
    c.t.equal(len(c.send('listSessions', query={'after': page['next']}).json['sessions']), 1)
    c.parameters_alone('listSessions')
    c.t.equal(c.send('patchSession', 'settings').json['metadata'], {'owner': 'ci', 'run': 8})
    c.send('patchSession', body={'metadata': 1}, status=400)
    c.t.equal(c.send('patchSession', body={'policy': {'tiers': ['isolate']}}).json['policy']['commands']['deny'], ['ssh'])
    c.t.equal(c.send('explainPolicy', 'command').json['allowed'], True)
    c.send('explainPolicy', body={'ask': 'x'}, status=400)
    c.send('createToken', 'reader', 409)
    c.send('listTokens')
    c.send('deleteToken', status=404, token='key_' + '0' * 26)
    c.send('getSession')
    c.send('getSession', session='none', status=404)
    c.t.equal(c.send('sleepSession', 'nothing').json['state'], 'parked')
    c.send('sleepSession', body=b' ' * 100, status=413)
    c.t.equal(c.send('wakeSession', 'nothing').json['state'], 'ready')


def walk_execs(c):
    done = c.send('exec', 'command', headers={'Idempotency-Key': 'twice'}).json
    c.t.equal(done['stdout'], 'one\n')
    again = c.send('exec', 'command', headers={'Idempotency-Key': 'twice'}).json
    c.t.equal(again['exec_id'], done['exec_id'])
    c.t.equal(c.send('exec', 'argv').json['stdout'], 'HELLO\n')
    c.t.equal(c.send('exec', 'bytes').json['stdout'], '3\n')
    c.t.equal(c.send('exec', 'fresh').json['stdout'], '/usr\n')
    c.t.ok('stdout' not in c.send('exec', 'without_output').json)
    c.t.equal(c.send('exec', body={'command': "printf '\\377'"}).json['stdout_encoding'], 'base64')
    c.t.equal(c.send('exec', body={'command': 'sleep 1000', 'timeout_ms': 50}).json['reason'], 'timeout')
    c.send('exec', body={'command': ':', 'tty': False, 'atomic': False, 'durable': False})
    c.t.equal(c.send('exec', body={'command': 'stty size', 'tty': {'cols': 100}}).json['stdout'], '24 100\r\n')
    c.t.equal(c.send('exec', 'atomic').json['exit_code'], 1)
    # It never began: the request's error, and an exec that says so.
    c.send('exec', body={'command': ':', 'shell': 'fresh', 'cwd': '/none'}, status=404)
    c.t.ok('refused' in [e['status'] for e in c.send('listExecs').json['execs']])
    for body in ({'tier': 'vm'},):
        c.send('exec', body={'command': ':', **body}, status=422)
    run = c.send('exec', 'background').json['exec_id']
    c.send('sleepSession', 'nothing', 409)
    c.send('writeExecStdin', 'text', 204, exec=run)
    c.send('writeExecStdin', 'bytes', 204, exec=run)
    done = c.send('getExec', query={'wait_ms': 60000}, exec=run).json
    c.t.equal((done['status'], done['stdout_bytes'], done['stdout_encoding']), ('exited', 10, 'base64'))
    c.send('writeExecStdin', 'text', 409, exec=run)
    c.send('writeExecStdin', body={'data': '*', 'encoding': 'base64'}, status=400, exec=run)
    c.send('signalExec', 'term', 409, exec=run)
    for example in ('term', 'default'):
        one = c.send('exec', 'background').json['exec_id']
        c.send('signalExec', example, 204, exec=one)
        done = c.send('getExec', query={'wait_ms': 60000}, exec=one).json
        c.t.equal((done['status'], done['signal']), ('killed', 15))
    c.send('signalExec', 'term', 404, exec='exec_none')
    c.parameters_alone('getExec', exec=run)
    c.t.ok('stdout' not in c.send('getExec', query={'output_limit': 0}, exec=run).json)
    c.send('getExec', exec='exec_' + '0' * 26, status=404)
    c.t.ok(c.send('listExecs', query={'limit': 2}).json['next'])
    c.parameters_alone('listExecs')
    walk_output(c, run)
    walk_attach(c, run)


def walk_output(c, run):
    r = c.send('getExecOutput', exec=run)
    c.t.equal((r.body, r.headers['Output-End']), (b'a line\n\xff\x00\x01', 'true'))
    c.parameters_alone('getExecOutput', exec=run)
    c.send('getExecOutput', query={'offset': 11}, status=400, exec=run)
    c.send('getExecOutput', query={'stream': 'stdin'}, status=400, exec=run)
    r = c.send('getExecOutput', headers={'Accept': 'text/event-stream'}, exec=run)
    exit_ = json.loads(r.body.decode().split('event: exit\n')[1].split('data: ')[1])
    c.t.equal(c.doc.wrong(exit_, {'$ref': '#/components/schemas/ExecSummary'}), None)
    c.send('getExecOutput', headers={'Accept': 'text/event-stream', 'Last-Event-ID': 'x'}, status=400, exec=run)


def walk_attach(c, run):
    shake = {'Connection': 'Upgrade', 'Upgrade': 'websocket', 'Sec-WebSocket-Version': '13',
             'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}
    c.t.equal(c.send('attachExec', status=101, headers=shake, exec=run).headers['Sec-WebSocket-Accept'],
              's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    for query in ({'stdout_offset': 0}, {'stderr_offset': 0}, {'framing': 'text'}):
        c.send('attachExec', status=101, headers=shake, query=query, exec=run)
    c.send('attachExec', status=426, exec=run)
    c.send('attachExec', status=404, headers=shake, exec='exec_none')
    c.send('attachExec', status=400, headers=shake, query={'stdout_offset': 100}, exec=run)


def walk_files(c):
    file = 'home/user/c'
    put = c.send('putFile', 'text', path=file)
    tag = put.headers['ETag']
    c.parameters_alone('putFile', path=file, but=['If-None-Match'])
    c.send('putFile', 'text', headers={'If-None-Match': '*'}, status=412, path=file)
    c.send('putFile', 'text', headers={'If-None-Match': '*'}, path='home/user/d/e')
    c.send('putFile', 'text', query={'mode': '9'}, status=400, path=file)
    c.send('putFile', 'text', path=file)
    for op in ('getFile', 'headFile'):
        c.t.equal(c.send(op, path=file).headers['ETag'], tag)
        c.parameters_alone(op, path=file, but=['list', 'depth', 'glob', 'Range'])
        c.send(op, headers={'Range': 'bytes=0-1'}, status=206, path=file)
        c.send(op, headers={'Range': 'bytes=100-'}, status=416, path=file)
        c.send(op, headers={'If-None-Match': tag}, status=304, path=file)
        c.send(op, headers={'If-Match': '"%s"' % ('0' * 64)}, status=412, path=file)
        c.send(op, status=400, path='home/user')
        c.send(op, status=404, path='home/user/none')
    c.t.equal(c.send('getFile', path=file).body, b'one\ntwo\n')
    c.t.equal(c.s.get('/v1/sessions/demo/fs/home/user/c').body, b'one\ntwo\n', 'slashes as they are')
    entries = c.send('getFile', query={'list': '', 'depth': 2}, path='home/user').json['entries']
    c.t.ok('d/e' in [e['path'] for e in entries], entries)
    c.send('getFile', query={'list': ''}, path='')
    c.send('getFile', query={'list': '', 'stat': ''}, status=400, path='')
    c.t.equal(c.send('getFile', query={'list': '', 'glob': '**/e'}, path='home/user').json['entries'][0]['path'], 'd/e')
    c.send('batchFiles', 'edit')
    c.send('batchFiles', 'kinds')
    for op, status in (({'op': 'edit', 'path': '/home/user/c', 'old': 'none', 'new': ''}, 409),
                       ({'op': 'remove', 'path': '/none'}, 404)):
        c.send('batchFiles', body={'operations': [op]}, status=status)
    for form in ('tar', 'tar.gz', 'tar.zst'):
        packed = c.send('getArchive', query={'format': form}, path='home/user')
        c.t.ok(c.send('unpackArchive', body=packed.body, path='tmp/in').json['entries'] > 2)
    c.send('watchFiles', query={'limit': 0, 'path': '/home', 'from_seq': 0})
    c.send('watchFiles', query={'limit': 1, 'from_seq': 0}, headers={'Last-Event-ID': '0'})
    c.send('watchFiles', query={'path': 'x'}, status=400)
    c.send('getArchive', status=404, path='none')
    c.send('unpackArchive', body=b'none', status=400, path='tmp/in')
    c.send('deleteFile', status=409, path='home/user/d')
    c.send('deleteFile', status=204, path='home/user/d/e')
    c.parameters_alone('deleteFile', status=204, path='home/user/d')
    c.send('deleteFile', status=404, path='home/user/d')


def walk_state(c):
    snap = c.send('createSnapshot', 'named', 201).json
    c.send('createSnapshot', 'named', 409)
    key = {'Idempotency-Key': 'snapshot'}
    other = c.send('createSnapshot', 'unnamed', 201, headers=key).json
    c.t.equal(c.send('createSnapshot', 'unnamed', 201, headers=key).json, other)
    c.send('createSnapshot', body={'name': '-x'}, status=400)
    c.t.equal(len(c.send('listSnapshots').json['snapshots']), 2)
    c.parameters_alone('listSnapshots')
    c.t.equal(c.send('getSnapshot', snapshot=snap['id']).json, snap)
    c.t.equal(c.send('createSession', 'from', 201).json['name'], 'again')
    forks = [c.send('forkSession', example, 201).json['sessions'] for example in ('two', 'now', 'snapshot', 'seq')]
    c.t.equal([[f['name'] for f in some] for some in forks], [['try-1', 'try-2'], [None], ['old'], [None]])
    c.send('forkSession', body={'count': 101}, status=400)
    c.send('forkSession', body={'snapshot': 'none'}, status=404)
    c.s.exec('try-1', 'echo new > /home/user/new')
    c.t.ok(c.send('mergeSession', 'dry_run', session='try-1').json['dry_run'])
    c.t.ok(c.send('mergeSession', 'merge', session='try-1').json['merged'])
    c.s.exec('try-2', 'echo other > /home/user/new')
    c.t.ok(c.send('mergeSession', 'merge', session='try-2').json['conflicts'])
    c.t.equal(c.send('restoreSession', 'snapshot').json['snapshot'], snap['id'])
    c.send('restoreSession', body={}, status=400)
    c.t.equal(c.send('putTemplate', 'name', template='base').json['snapshot'], snap['id'])
    c.send('putTemplate', body={'snapshot': 'none'}, status=404, template='base')
    c.send('putTemplate', 'name', 400, template='-x')
    c.t.equal(c.send('getTemplate', template='base').json, c.send('listTemplates').json['templates'][0])
    c.send('createSession', body={'from': 'base'}, status=201)
    c.send('deleteSnapshot', status=409, snapshot=snap['id'])
    c.send('deleteTemplate', status=204, template='base')
    c.send('deleteTemplate', status=404, template='base')
    c.send('getTemplate', status=404, template='base')
    c.send('deleteSnapshot', status=204, snapshot=other['id'])
    c.send('deleteSnapshot', status=404, snapshot=other['id'])
    c.send('getSnapshot', status=404, snapshot=other['id'])


def walk_logs(c):
    c.s.exec('demo', 'echo a >> /home/user/c; mkdir /home/user/m; rm /home/user/notes.txt')
    c.parameters_alone('diffSession')
    changes = c.send('diffSession', query={'from': 'demo:first', 'text': ''}).json['changes']
    c.t.equal({x['kind'] for x in changes if x['path'] != '/home/user'}, {'added', 'removed', 'modified'})
    c.send('diffSession', query={'path': 'x'}, status=400)
    c.send('diffSession', query={'from': 'none'}, status=404)
    events = c.send('getTrace').json
    kinds = {e['type'] for e in events['events']}
    c.t.ok({'created', 'exec', 'input', 'clock', 'output', 'change', 'end', 'snapshot', 'restore'} <= kinds, kinds)
    c.parameters_alone('getTrace')
    c.t.equal(c.send('getTrace', query={'from_seq': events['next_seq']}).json['next_seq'], None)
    for accept in ('application/x-ndjson', 'text/event-stream'):
        body = c.send('getTrace', query={'limit': 2}, headers={'Accept': accept}).body.decode()
        c.t.equal([json.loads(x) for x in re.findall(r'\{.*', body)], events['events'][:2], accept)
    c.t.ok(c.send('replay', 'all').json['commands'])
    c.send('replay', 'from')
    c.send('replay', body={'session': 'none'}, status=404)
    c.t.equal(c.send('restoreSession', 'seq').json['seq'], 0)


def walk_tokens(c):
    key = key_of(c.t, c.s, 'all')
    until(lambda: c.s.get('/v1/sessions').status == 401, 'a key is needed')
    c.send('createSession', body={'name': 'demo'}, headers=key, status=201)
    token = c.send('createToken', 'reader', 201, headers=key).json
    c.t.equal([x['id'] for x in c.send('listTokens', headers=key).json['tokens']], [token['id']])
    c.send('createToken', body={'capabilities': ['x']}, headers=key, status=400)
    c.send('deleteToken', headers=key, status=204, token=token['id'])
    c.send('deleteToken', headers=key, status=404, token=token['id'])


@case
def a_server_answers_as_the_document_says(t):
    with Server(t) as s:
        c = Client(t, s)
        walk_server(c)
        walk_sessions(c)
        walk_execs(c)
        walk_files(c)
        walk_state(c)
        walk_logs(c)
        page = c.send('getUsage', query={'limit': 1}).json
        c.t.ok(page['next'] and page['sessions'][0]['execs'] >= 0, page)
        c.parameters_alone('getUsage')
        c.send('deleteSession', status=204)
        c.send('deleteSession', status=404)
        c.t.ok(c.send('getHealth').json['confinement'])
        walk_tokens(c)
        for op in c.doc.operations.values():
            for name in op.request_examples():
                t.ok((op.id, name) in c.sent, f'the example {name} of {op.id} was sent')
            always = {status for status in op.responses if status < 400 or status in (412, 416)}
            t.equal(always - c.statuses.get(op.id, set()), set(), f'{op.id}: statuses that never came')


@case
def what_no_route_knows_is_an_error(t):
    with Server(t) as s:
        c = Client(t, s)
        c.send('createSession', 'settings', 201)
        params = {'exec': 'exec_' + '0' * 26, 'snapshot': 'snap_' + '0' * 26, 'path': 'x', 'template': 'x', 'token': 'x'}
        rows = {route: words for route, (words, *_) in table().items()}
        for op in c.doc.operations.values():
            for name in ('bogus', ''):
                c.send(op.id, query={name: '1'}, status=400, **params)
            # As the program's table has them: all of them together are none of them.
            words = rows[op.method, re.sub(r'\{\w+\}', '{}', op.path.replace('{path}', '{*}'))]
            if ' ' in words:
                c.send(op.id, query={words: '1'}, status=400, **params)
            if op.request_type == JSON:
                r = c.send(op.id, body={'bogus': 1}, status=400, **params)
                t.equal(r.json['error']['details'], {'field': 'bogus'}, op.id)
            elif not op.request:
                c.send(op.id, body=b'x', status=413, **params)
        for method, path, status in (('GET', '/v1/none', 404), ('PUT', '/v1/sessions', 405)):
            r = s.ask(method, path)
            t.equal((r.status, c.doc.wrong(r.json, {'$ref': '#/components/schemas/Error'})), (status, None))


def key_of(t, s, capabilities):
    p = subprocess.run([BINARY, 'keys', 'create', '--state', s.state, '--capabilities', capabilities],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60 * SLOW)
    t.equal((p.returncode, p.stderr), (0, b''))
    return {'Authorization': 'Bearer ' + p.stdout.decode().strip()}


@case
def capabilities_are_those_that_the_document_names(t):
    with Server(t) as s:
        c = Client(t, s)
        names = sorted({op.capability for op in c.doc.operations.values() if op.capability})
        said = c.doc.tree['components']['securitySchemes']['key']['description']
        t.ok(all(name in said for name in names), names)
        only = {name: key_of(t, s, name) for name in names}
        less = {name: key_of(t, s, ','.join(x for x in names if x != name)) for name in names}
        until(lambda: s.get('/v1/sessions').status == 401, 'a key is needed')
        until(lambda: s.get('/v1/sessions', headers=less[names[-1]]).status == 200, 'the last key is known')
        params = {'session': 'none', 'exec': 'exec_' + '0' * 26, 'snapshot': 'snap_' + '0' * 26, 'path': 'x', 'template': 'x',
                  'token': 'x'}
        for op in c.doc.operations.values():
            if op.capability is None:
                c.send(op.id)
                continue
            c.send(op.id, status=401, **params)
            c.send(op.id, headers=less[op.capability], status=403, **params)
            # What lies behind the check does not know the parameter.
            c.send(op.id, headers=only[op.capability], query={'bogus': ''}, status=400, **params)
            r = s.ask(op.method, re.sub(r'\{\w+\}', 'none', op.path), headers=only[op.capability])
            t.ok(r.status in op.responses and r.status not in (401, 403), f'{op.id}: {r!r}')


main()
