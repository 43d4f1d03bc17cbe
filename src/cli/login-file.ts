// Where `agent-gateway login` keeps what it got: one file of the person who runs it, with an entry for each gateway. Nobody else reads it.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { CommandFailure, Exit } from './exit.ts'

const Login = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  /** ISO time at which the access token ends. */
  expires_at: z.iso.datetime(),
  scope: z.string(),
})
/** Tokens of one gateway. */
export type Login = z.infer<typeof Login>
const Logins = z.record(z.string(), Login)

/** Under XDG_CONFIG_HOME, else in ~/.config. */
export const loginFile = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'agent-gateway', 'login.json')

/** Every gateway that this person is signed in to, by its address; a file that cannot be read is none. */
export async function readLogins(file = loginFile()): Promise<Readonly<Record<string, Login>>> {
  try {
    return Logins.safeParse(JSON.parse(await readFile(file, 'utf8'))).data ?? {}
  } catch {
    return {}
  }
}

/** @param login undefined: it is forgotten. @throws {CommandFailure} where the file cannot be written */
export async function keepLogin(url: string, login: Login | undefined, file = loginFile()): Promise<void> {
  const { [url]: _last, ...others } = await readLogins(file)
  const logins = login ? { ...others, [url]: login } : others
  try {
    if (Object.keys(logins).length === 0) return await rm(file, { force: true })
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Renamed into place, so that another command never reads half of it.
    const part = `${file}.${process.pid}`
    await writeFile(part, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600 })
    await rename(part, file)
  } catch {
    throw new CommandFailure(Exit.failed, `${file} cannot be written by this user.`)
  }
}
