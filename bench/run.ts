// `npm run bench [-- name …]`: every benchmark in a process of its own, one after the other, so that none disturbs another.
import { spawnSync } from 'node:child_process'

const ALL = [
  'store',
  'mcp',
  'a2a',
  'egress',
  'permits',
  'challenge',
  'verify',
  'webfetch',
  'outcomes',
  'bursts',
  'extraction',
  'products',
  'feeds',
  'email',
  'email-lists',
  'email-syntax',
  'commerce',
  'start',
]
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !ALL.includes(name))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${ALL.join(', ')}`)
  process.exit(2)
}
console.log(`Node ${process.version}, ${process.platform} ${process.arch}`)
let failed = false
for (const name of wanted.length > 0 ? wanted : ALL) {
  console.log(`\n== ${name} ==`)
  const file = new URL(`./${name}.ts`, import.meta.url).pathname
  const { status } = spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' })
  if (status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
