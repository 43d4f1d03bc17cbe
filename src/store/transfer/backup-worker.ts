// The thread of backup-thread.ts.
import { parentPort, workerData } from 'node:worker_threads'
import type { BackupAnswer, BackupInput } from './backup-thread.ts'
import { TransferFault } from './ports.ts'
import { writeBackup } from './write-backup.ts'

const TELL_EVERY_MS = 100

const { config, origin, to, part } = workerData as BackupInput
let toldAt = 0
const tell = (answer: BackupAnswer) => parentPort?.postMessage(answer, [])

try {
  const written = await writeBackup(
    {
      config,
      origin,
      onProgress(rows, about) {
        const now = performance.now()
        if (now - toldAt < TELL_EVERY_MS) return
        toldAt = now
        tell({ rows, about })
      },
    },
    to,
    part,
  )
  tell({ written })
} catch (thrown) {
  tell(
    thrown instanceof TransferFault ? { fault: thrown.message } : { failed: String((thrown as Error).stack) },
  )
}
