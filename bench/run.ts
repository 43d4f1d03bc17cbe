// `npm run bench [-- name …]`: every benchmark in a process of its own, one after the other, so that none disturbs another.
// With `--write`, bench/results.json gets the tables of those that ran; `npm run generate` makes docs/performance.md of it.
// `--corpus DIR` has those that read pages or feeds score those of DIR; corpora.ts says how DIR is laid out.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const ALL = [
  'store',
  'mcp',
  'a2a',
  'egress',
  'permits',
  'challenge',
  'verify',
  'webfetch',
  'market',
  'outcomes',
  'bursts',
  'leaks',
  'signing',
  'leak-gate',
  'extraction',
  'side-by-side',
  'poor',
  'products',
  'metadata',
  'feeds',
  'intents',
  'email',
  'email-lists',
  'email-syntax',
  'market-search',
  'site',
  'console',
  'live',
  'sign-in',
  'commerce',
  'bodies',
  'programs',
  'scale',
  'overload',
  'soak',
  'telemetry',
  'start',
]
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    corpus: { type: 'string' },
    base: { type: 'string' },
  },
})
const passedOn = [
  ...(options.corpus === undefined ? [] : ['--corpus', options.corpus]),
  ...(options.base === undefined ? [] : ['--base', options.base]),
]
const unknown = wanted.filter((name) => !ALL.includes(name))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${ALL.join(', ')}`)
  process.exit(2)
}
const machine = `Node ${process.version}, ${process.platform} ${process.arch}`
console.log(machine)
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const measured = `${machine}, ${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, ${new Date().toISOString().slice(0, 10)}`
let failed = false
for (const name of wanted.length > 0 ? wanted : ALL) {
  console.log(`\n== ${name} ==`)
  const file = new URL(`./${name}.ts`, import.meta.url).pathname
  const { status } = spawnSync(process.execPath, ['--expose-gc', file, ...passedOn], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_TABLES: join(folder, name) },
  })
  if (status !== 0) failed = true
  else if (options.write) writeTables(name)
}
rmSync(folder, { recursive: true })
process.exit(failed ? 1 : 0)

/** Puts the tables of one benchmark in the place of its last ones. */
function writeTables(bench: string): void {
  const file = new URL('./results.json', import.meta.url)
  const { tables } = JSON.parse(readFileSync(file, 'utf8')) as { tables: { bench: string }[] }
  const lines = readFileSync(join(folder, bench), 'utf8').trim().split('\n')
  const fresh = lines.map((line) => ({ bench, measured, ...(JSON.parse(line) as object) }))
  const order = (name: string) => ALL.indexOf(name)
  const kept = tables.filter((table) => table.bench !== bench)
  const all = [...kept, ...fresh].toSorted((a, b) => order(a.bench) - order(b.bench))
  writeFileSync(file, `${JSON.stringify({ tables: all }, undefined, 2)}\n`)
}
