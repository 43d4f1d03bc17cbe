// Note of a running gateway in its data directory: how a command on the same machine finds it, PORT=0 included.
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../core/config.ts'

const Running = z.object({
  pid: z.int().min(1),
  url: z.url({ protocol: /^https?$/ }),
  /** Of unmodified programs, where it has one. */
  proxy_url: z.url({ protocol: /^http$/ }).optional(),
})
export type Running = z.infer<typeof Running>

/** The note of a running gateway in its data directory. */
export const runningFile = (dataDir: string) => join(dataDir, 'gateway.json')

/** Writes the note by which other commands of this machine find the gateway. */
export async function noteRunning(dataDir: string, running: Running): Promise<void> {
  const file = runningFile(dataDir)
  // Renamed into place, so that a command never reads half a note. In containers that share the directory every process may be number 1.
  const aside = `${file}.${randomUUID()}.tmp`
  await writeFile(aside, `${JSON.stringify(running)}\n`, { mode: 0o600 })
  await rename(aside, file)
}

/** The note is removed by its own writer alone: a gateway that took over meanwhile keeps its note. */
export async function forgetRunning(dataDir: string, pid: number): Promise<void> {
  if ((await readNote(dataDir))?.pid === pid) await rm(runningFile(dataDir), { force: true })
}

/** The gateway that owns the data directory, if its process is alive. */
export async function findRunning(dataDir: string): Promise<Running | undefined> {
  const note = await readNote(dataDir)
  return note && isAlive(note.pid) ? note : undefined
}

/** The address at which this machine reaches the gateway, whatever its public address is. */
export function localUrl({ host: bound }: Pick<Config, 'host'>, port: number): string {
  const host = bound === '0.0.0.0' ? '127.0.0.1' : bound === '::' ? '::1' : bound
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function readNote(dataDir: string): Promise<Running | undefined> {
  try {
    return Running.safeParse(JSON.parse(await readFile(runningFile(dataDir), 'utf8'))).data
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    // Somebody else's process is alive as well.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}
