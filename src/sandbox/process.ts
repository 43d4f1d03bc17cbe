// Processes that earlier gateways left behind, and a lock between gateways that share a directory.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

const LOCK_MS = 30_000
const END_MS = 6_000
const LOOK_MS = 20

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A zombie is nobody. */
export const isAlive = async (pid: number) => {
  const state = await stateOf(pid)
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** Whether this process was started with that argument: a pid may have been given to somebody else since. */
export async function isProcessOf(pid: number, argument: string): Promise<boolean> {
  if (!exists(pid)) return false
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(argument)
  } catch {
    // This system has no /proc: strangers are left alone, whatever that costs.
    return false
  }
}

/** Waits for the end of a process that was told to end, then ends it. */
export async function endProcess(pid: number): Promise<void> {
  for (let waited = 0; waited < END_MS; waited += LOOK_MS) {
    if (!(await isAlive(pid))) return
    await wait(LOOK_MS)
  }
  process.kill(pid, 'SIGKILL')
  while (await isAlive(pid)) await wait(LOOK_MS)
}

/** Letter of the state of a process, '?' where the system does not say; undefined when there is no such process. */
async function stateOf(pid: number): Promise<string | undefined> {
  if (!exists(pid)) return undefined
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2)[0]
  } catch {
    return exists(pid) ? '?' : undefined
  }
}

/** @returns how to give it back @throws when somebody alive holds it for too long */
export async function takeLock(file: string): Promise<() => Promise<void>> {
  for (let waited = 0; waited < LOCK_MS; waited += LOOK_MS) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx', mode: 0o600 })
      return () => rm(file, { force: true })
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    // Empty: it is being written right now.
    if (holder > 0 && !(await isAlive(holder))) await rm(file, { force: true })
    else await wait(LOOK_MS)
  }
  throw new Error(`${file} is held by another process`)
}
