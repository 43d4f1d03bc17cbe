// Work on a whole database beside the gateway that runs on it: a check that reads every page, or a consistent copy. Both take as long as the
// file is large, so they have a thread of their own, with a connection that only reads.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

export type AsideInput =
  | { readonly task: 'check'; readonly file: string }
  | { readonly task: 'copy'; readonly file: string; readonly to: string }
export type AsideAnswer = { readonly ok: string } | { readonly failed: string }

/**
 * Runs the task. `check` answers with SQLite's verdict, which is `ok` where the file is whole. `copy` writes what is committed now into a new
 * file, without what was deleted.
 * @param signal stops it; a copy may be left in part
 * @throws {Error} with the code of SQLite as its message
 */
export async function runAside(input: AsideInput, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  const worker = new Worker(workerUrl(), {
    name: 'store aside',
    workerData: input,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const stop = () => void worker.terminate()
  signal?.addEventListener('abort', stop)
  try {
    const answer = await Promise.race([
      once(worker, 'message').then(([message]) => message as AsideAnswer),
      once(worker, 'exit').then((): AsideAnswer => ({ failed: 'stopped' })),
    ])
    if ('failed' in answer) throw new Error(answer.failed)
    return answer.ok
  } finally {
    signal?.removeEventListener('abort', stop)
    await worker.terminate()
  }
}

function workerUrl(): URL {
  const bundled = new URL('./aside-worker.js', import.meta.url)
  return existsSync(bundled) ? bundled : new URL('./aside-worker.ts', import.meta.url)
}
