// A check that reads every page of a database, beside the gateway that runs on it. It takes as long as the file is large, so it has a thread of
// its own, with a connection that only reads.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

export interface AsideInput {
  readonly task: 'check'
  readonly file: string
}
export type AsideAnswer = { readonly ok: string } | { readonly failed: string }

/**
 * Runs the task. `check` answers with SQLite's verdict, which is `ok` where the file is whole.
 * @throws {Error} with the code of SQLite as its message
 */
export async function runAside(input: AsideInput): Promise<string> {
  const worker = new Worker(workerUrl(), {
    name: 'store aside',
    workerData: input,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  try {
    const answer = await Promise.race([
      once(worker, 'message').then(([message]) => message as AsideAnswer),
      once(worker, 'exit').then((): AsideAnswer => ({ failed: 'stopped' })),
    ])
    if ('failed' in answer) throw new Error(answer.failed)
    return answer.ok
  } finally {
    await worker.terminate()
  }
}

function workerUrl(): URL {
  const bundled = new URL('./aside-worker.js', import.meta.url)
  return existsSync(bundled) ? bundled : new URL('./aside-worker.ts', import.meta.url)
}
