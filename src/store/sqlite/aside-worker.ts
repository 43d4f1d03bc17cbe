// The thread of aside.ts.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { AsideAnswer, AsideInput } from './aside.ts'

const TIMEOUT_MS = 5000

function run(input: AsideInput): AsideAnswer {
  const db = new DatabaseSync(input.file, { readOnly: true, timeout: TIMEOUT_MS })
  try {
    const [verdict] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})
    return { ok: String(verdict) }
  } finally {
    db.close()
  }
}

let answer: AsideAnswer
try {
  answer = run(workerData as AsideInput)
} catch (thrown) {
  const { errstr, code } = thrown as { errstr?: string; code?: string }
  answer = { failed: errstr ?? code ?? 'error' }
}
parentPort?.postMessage(answer, [])
