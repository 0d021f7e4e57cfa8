// SPDX-License-Identifier: Apache-2.0
// Runs scripts in just-bash: just_bash.cjs TREE ROUNDS WANT SCRIPT...   WANT/NAME.want is what NAME.sh has to print.
// Prints for each "NAME SECONDS", the median of ROUNDS in this process after one that is not counted, or "NAME -" when it prints
// something else. Blanks at the begin of lines are not compared: its uniq -c pads otherwise.
const fs = require('node:fs');
const path = require('node:path');
const { Bash } = require('just-bash');

function read(root) {
  const files = {};
  for (const e of fs.readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (!e.isFile()) continue;
    const at = path.join(e.parentPath ?? e.path, e.name);
    const st = fs.statSync(at);
    files['/w/' + path.relative(root, at)] = { content: fs.readFileSync(at, 'utf8'), mode: st.mode & 0o777, mtime: st.mtime };
  }
  return files;
}

const bare = (text) => text.replace(/^ +/gm, '');

async function once(text, files) {
  const bash = new Bash({
    files, cwd: '/w', env: { LC_ALL: 'C', HOME: '/root', PWD: '/w' }, python: true,
    executionLimits: { maxCommandCount: Infinity, maxLoopIterations: Infinity, maxExecutionTimeMs: 60000 },
  });
  await bash.exec('true');
  const t = process.hrtime.bigint();
  const r = await bash.exec(text);
  return { out: r.stdout, seconds: Number(process.hrtime.bigint() - t) / 1e9 };
}

async function main() {
  const [tree, rounds, want, ...scripts] = process.argv.slice(2);
  const files = read(tree);
  for (const script of scripts) {
    const name = path.basename(script, '.sh');
    const text = fs.readFileSync(path.join(__dirname, script), 'utf8');
    const wanted = fs.readFileSync(path.join(want, name + '.want'), 'utf8');
    const took = [];
    let same = true;
    const warmup = Number(rounds) > 1 ? 1 : 0;
    for (let i = 0; i < Number(rounds) + warmup && same; i++) {
      try {
        const r = await once(text, files);
        same = bare(r.out) === bare(wanted);
        if (i >= warmup) took.push(r.seconds);
      } catch (e) {
        same = false;
      }
    }
    took.sort((a, b) => a - b);
    console.log(name, same ? took[took.length >> 1] : '-');
  }
  process.exit(0);
}

main();
