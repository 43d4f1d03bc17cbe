import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

const MODULE = pathToFileURL('src/lib/log.ts').href
const LINES = 20_000

/** As the launcher starts the product (src/cli/launcher.ts): without it one of a hundred never ends, on a busy machine. */
const ENDS_FOR_CERTAIN = '--no-concurrent-sparkplug'

/** A process that writes its lines to stderr, says so on stdout, and ends when its stdin does. */
function start(stderr: 'pipe' | number): ChildProcess {
  const program = `
    import { openLogDestination } from ${JSON.stringify(MODULE)}
    const to = openLogDestination()
    for (let n = 0; n < ${LINES}; n++) to.write(JSON.stringify({ n, pad: 'x'.repeat(500) }) + '\\n')
    process.once('SIGTERM', () => {
      to.write('{"last":true}\\n')
      process.exit(0)
    })
    setInterval(() => {}, 1000)
    console.log('written')
  `
  return spawn(process.execPath, [ENDS_FOR_CERTAIN, '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', stderr],
  })
}
const written = ({ stdout }: ChildProcess) => once(stdout!, 'data')

it('goes on where the disk is full, and ends when it is told to', async () => {
  const full = openSync('/dev/full', 'w')
  const child = start(full)
  closeSync(full)
  await written(child)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('goes on where nobody reads, and ends when it is told to', async () => {
  const child = start('pipe')
  await written(child)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('gives a late reader the first lines whole and in order, and how many were lost', async () => {
  const child = start('pipe')
  await written(child)
  const read = text(child.stderr!)
  let end = ''
  const told = new Promise<void>((resolve) =>
    child.stderr!.on('data', (chunk: Buffer) => {
      end = (end + chunk).slice(-1000)
      if (end.includes('lines were lost')) resolve()
    }),
  )
  await told
  child.kill('SIGTERM')
  const lines = (await read)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.pop()).toEqual({ last: true })
  const { lost } = lines.pop()
  expect(lost).toBeGreaterThan(0)
  expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: LINES - lost }, (_, n) => n))
})
