// Programs that know nothing of the gateway, each a child process with the environment that it is given and nothing else.
import { execFile } from 'node:child_process'

export interface ProgramEnd {
  readonly status: number | null
  readonly output: string
}

/** What a Node program prints: the status and the body of each call, or the code of the failure. */
const NODE_CLIENTS = {
  fetch: `
    const response = await fetch(url, { headers })
    console.log(response.status, await response.text())`,
  https: `
    const { get } = await import('node:https')
    await new Promise((resolve, reject) =>
      get(url, { headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(console.log(response.statusCode, text)))
      }).on('error', reject))`,
  undici: `
    const { EnvHttpProxyAgent, request } = await import('undici')
    const { statusCode, body } = await request(url, { headers, dispatcher: new EnvHttpProxyAgent() })
    console.log(statusCode, await body.text())`,
} as const
export type NodeClient = keyof typeof NODE_CLIENTS
export const nodeClients = Object.keys(NODE_CLIENTS) as NodeClient[]

/** The text of a program that makes one call with this library. */
export const nodeProgram = (
  client: NodeClient,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): string =>
  `const url = ${JSON.stringify(url)}, headers = ${JSON.stringify(headers)}
try {${NODE_CLIENTS[client]}
} catch (thrown) { console.log('failed', thrown.cause?.code ?? thrown.code ?? '', thrown.cause?.message ?? thrown.message); process.exitCode = 9 }`

export function runNode(program: string, env: Readonly<Record<string, string>>): Promise<ProgramEnd> {
  return runProgram(process.execPath, ['--input-type=module', '-e', program], env)
}

/** @returns both outputs together; nothing of this process's environment but PATH goes in */
export function runProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { env: { PATH: process.env['PATH'], ...env }, timeout: 20_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
        resolve({ status: code, output: `${stdout}${stderr}` })
      },
    )
  })
}
