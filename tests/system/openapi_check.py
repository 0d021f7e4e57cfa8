# SPDX-License-Identifier: Apache-2.0
"""What an OpenAPI document says of an answer: references, operations, and values beside the part of JSON Schema that our
document uses. A keyword that is not known here is an error, so that nothing of a schema goes unchecked."""
import re

METHODS = ('get', 'head', 'post', 'put', 'patch', 'delete')
KEYWORDS = {'$ref', 'type', 'properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems', 'enum', 'pattern',
            'minimum', 'maximum', 'minLength', 'maxLength', 'oneOf', 'description', 'default'}
KINDS = {'string': str, 'integer': int, 'boolean': bool, 'object': dict, 'array': list, 'null': type(None)}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and not (kind == 'integer' and isinstance(value, bool))


class Operation:
    def __init__(self, doc, path, method, item):
        self.path, self.method, self.body = path, method.upper(), item
        self.id = item.get('operationId')
        shared = doc.tree['paths'][path].get('parameters', [])
        self.parameters = [doc.follow(p) for p in shared + item.get('parameters', [])]
        self.responses = {int(status): doc.follow(r) for status, r in item['responses'].items()}
        self.request = doc.follow(item.get('requestBody', {}))

    def names(self, where):
        return [p['name'] for p in self.parameters if p['in'] == where]

    @property
    def request_type(self):
        return next(iter(self.request.get('content', {})), None)

    def request_examples(self):
        """Name and value of each."""
        content = self.request.get('content', {}).get(self.request_type, {})
        return {name: e['value'] for name, e in content.get('examples', {}).items()}

    @property
    def capability(self):
        """What a key needs, or None: nobody is asked for one."""
        return self.body['security'][0]['key'][0] if self.body['security'] else None


class Document:
    def __init__(self, tree):
        self.tree = tree
        self.used = set()
        self.operations = {}
        for path, item in tree['paths'].items():
            for method in METHODS:
                if method in item:
                    op = Operation(self, path, method, item[method])
                    assert op.id not in self.operations, op.id
                    self.operations[op.id] = op

    def find(self, ref):
        """What a $ref names; KeyError when it is not there."""
        at = self.tree
        if not ref.startswith('#/'):
            raise KeyError(ref)
        for key in ref[2:].split('/'):
            at = at[key]
        self.used.add(ref)
        return at

    def follow(self, thing):
        while '$ref' in thing:
            thing = self.find(thing['$ref'])
        return thing

    def each(self):
        """Every object of the document with its place, but for the values of examples, which are data."""
        todo = [('#', self.tree)]
        while todo:
            where, thing = todo.pop()
            if isinstance(thing, dict):
                yield where, thing
                todo += [(f'{where}/{key}', v) for key, v in thing.items() if key not in ('example', 'value')
                         or where.endswith('/properties')]
            elif isinstance(thing, list):
                todo += [(f'{where}/{i}', v) for i, v in enumerate(thing)]

    def wrong(self, value, schema, at='$'):
        """What is wrong with @value by @schema, or None."""
        unknown = set(schema) - KEYWORDS
        if unknown:
            return f'{at}: the schema has {sorted(unknown)}'
        if '$ref' in schema:
            return self.wrong(value, self.find(schema['$ref']), at)
        if 'oneOf' in schema:
            all_ = [self.wrong(value, s, at) for s in schema['oneOf']]
            return None if all_.count(None) == 1 else f'{at}: {all_.count(None)} of oneOf fit: {all_}'
        kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
        if not any(is_kind(value, k) for k in kinds):
            return f'{at}: {value!r} is none of {kinds}'
        if 'enum' in schema and value not in schema['enum']:
            return f'{at}: {value!r} is none of {schema["enum"]}'
        if isinstance(value, str):
            return self.wrong_text(value, schema, at)
        if isinstance(value, list):
            if not schema.get('minItems', 0) <= len(value) <= schema.get('maxItems', len(value)):
                return f'{at}: {len(value)} items'
            return next(filter(None, (self.wrong(v, schema['items'], f'{at}[{i}]') for i, v in enumerate(value))), None)
        if isinstance(value, dict):
            return self.wrong_object(value, schema, at)
        if is_kind(value, 'integer') and not schema.get('minimum', value) <= value <= schema.get('maximum', value):
            return f'{at}: {value} is out of range'
        return None

    @staticmethod
    def wrong_text(value, schema, at):
        if not re.search(schema.get('pattern', ''), value):
            return f'{at}: {value!r} does not match {schema["pattern"]}'
        if not schema.get('minLength', 0) <= len(value) <= schema.get('maxLength', len(value)):
            return f'{at}: {len(value)} characters'
        return None

    def wrong_object(self, value, schema, at):
        known, rest = schema.get('properties', {}), schema.get('additionalProperties', True)
        missing = set(schema.get('required', [])) - set(value)
        if missing:
            return f'{at}: there is no {sorted(missing)}'
        for key, v in value.items():
            if key not in known and rest is False:
                return f'{at}: the schema has no {key!r}'
            one = known.get(key, rest)
            bad = self.wrong(v, one, f'{at}.{key}') if isinstance(one, dict) else None
            if bad:
                return bad
        return None
