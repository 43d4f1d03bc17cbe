// Loaded into a gateway by `--import`: each SIGUSR2 writes how its event loop did since the last one, as a line of JSON, to the file
// TURNS_FILE.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { createTurnMeter } from '../turns.ts'

const file = process.env['TURNS_FILE']
if (isMainThread && file !== undefined) {
  const meter = createTurnMeter()
  meter.start()
  process.on('SIGUSR2', () => {
    appendFileSync(file, `${JSON.stringify(meter.stop())}\n`)
    meter.start()
  })
}
