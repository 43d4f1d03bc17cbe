// A backup beside the gateway that runs: in a thread and with a connection of its own, since every row passes through it.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { StoreConfig } from '../index.ts'
import type { BackupOrigin } from './backup-file.ts'
import { TransferFault } from './ports.ts'
import { type OnProgress, partOf, type WrittenBackup } from './write-backup.ts'

export interface BackupInput {
  readonly config: StoreConfig
  readonly origin: BackupOrigin
  readonly to: string
  /** Its name until it is whole. */
  readonly part: string
}
export type BackupAnswer =
  | { readonly rows: number; readonly about: { readonly rows: number; readonly bytes: number } }
  | { readonly written: WrittenBackup }
  | { readonly fault: string }
  | { readonly failed: string }

/**
 * Writes the file. What is stopped or fails leaves nothing.
 * @throws {TransferFault}
 */
export async function backUpAside(
  input: Omit<BackupInput, 'part'>,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<WrittenBackup> {
  signal.throwIfAborted()
  const { dataDir, databaseUrl, databaseDirectUrl } = input.config
  const part = partOf(input.to)
  const worker = new Worker(workerUrl(), {
    name: 'backup',
    workerData: {
      ...input,
      part,
      config: { dataDir, databaseUrl, databaseDirectUrl },
    } satisfies BackupInput,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const stop = () => void worker.terminate()
  signal.addEventListener('abort', stop)
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (answer: BackupAnswer) => {
        if ('written' in answer) resolve(answer.written)
        else if ('fault' in answer) reject(new TransferFault(answer.fault))
        else if ('failed' in answer) reject(new Error(answer.failed))
        else onProgress(answer.rows, answer.about)
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('the backup was stopped')))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
    // A thread that is stopped does not clean up after itself.
    await rm(part, { force: true })
  }
}

function workerUrl(): URL {
  const bundled = new URL('./backup-worker.js', import.meta.url)
  return existsSync(bundled) ? bundled : new URL('./backup-worker.ts', import.meta.url)
}
