// `npm run chaos [-- name …]`: every fault against the real gateway, one kind after the other, each in a process of its own; at the end the
// table of docs/reliability.md. Exit code 1 where a promise was broken, a control found nothing, or a fault could not be tried.
// With `--write`, chaos/results.json gets the rows of those that ran; `npm run generate` makes the table of the page of it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ChaosResults, type ChaosRow, reliabilityTable } from '../src/documents/reliability.ts'
import bundlePrograms from '../test/support/program-bundle.ts'

const KINDS = [
  'replicas',
  'upgrade',
  'database',
  'failover',
  'disk-full',
  'power-loss',
  'dns',
  'payments',
  'clock',
  'network',
  'redis',
]
/** Rules for packets are made in a network of its own, and end with it. Without root the rows say that they were not run. */
const IN_OWN_NETWORK = process.getuid?.() === 0 ? ['network'] : []

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
})
const unknown = wanted.filter((name) => !KINDS.includes(name))
if (unknown.length > 0) {
  console.error(`no fault ${unknown.join(', ')}; there are ${KINDS.join(', ')}`)
  process.exit(2)
}
const measured = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`
console.log(measured)
const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
const removePrograms = await bundlePrograms()
const found: ChaosResults['kinds'][number][] = []
let isBroken = false
for (const kind of wanted.length > 0 ? wanted : KINDS) {
  console.log(`\n== ${kind} ==`)
  const file = join(folder, kind)
  const program = [process.execPath, new URL('./kind.ts', import.meta.url).pathname, kind]
  const [command = '', ...args] = IN_OWN_NETWORK.includes(kind)
    ? ['unshare', '--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...program]
    : program
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, CHAOS_ROWS: file } })
  const rows = existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ChaosRow)
    : []
  if (status !== 0) console.log(`FAILED ${kind}: its process ended with ${status}, after ${rows.length} rows`)
  if (status !== 0 || rows.length === 0 || rows.some(({ failures }) => failures.length > 0)) isBroken = true
  found.push({ kind, measured, rows })
}
await removePrograms()
rmSync(folder, { recursive: true })
console.log(`\n${reliabilityTable(found.flatMap(({ rows }) => rows))}`)
if (options.write) write()
process.exit(isBroken ? 1 : 0)

/** Puts the rows of these kinds in the place of their last ones. */
function write(): void {
  const file = new URL('./results.json', import.meta.url)
  const { kinds } = JSON.parse(readFileSync(file, 'utf8')) as ChaosResults
  const fresh = new Set(found.map(({ kind }) => kind))
  const all = [...kinds.filter(({ kind }) => !fresh.has(kind)), ...found]
  const sorted = all.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
  writeFileSync(file, `${JSON.stringify({ kinds: sorted }, undefined, 2)}\n`)
}
