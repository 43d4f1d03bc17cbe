// How secrets get in: from stdin, from a prompt without echo, or from a file. Never from an argument.
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Secret } from '../lib/secret.ts'
import { CommandFailure, Exit } from './exit.ts'

const MAX_SECRET_BYTES = 64 * 1024
const TOKEN = /agw_(?:sk|cap|ek)_[0-9A-Za-z]{8}/
/** People try these options first. Each is refused by name, so that the refusal can say what to do instead. */
const SECRET_OPTIONS = /^--(?:secret|token|key|api-key|apikey|password|bearer|capability)(?:=|$)/

/** What stands before `--`: the rest are the arguments of another program. */
export function ownArguments(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end < 0 ? args : args.slice(0, end)
}

/**
 * @throws {CommandFailure} when an argument is, or would be, a secret. The argument is not quoted back.
 */
export function refuseSecretArguments(args: readonly string[]): void {
  const own = ownArguments(args)
  if (!args.some((arg) => TOKEN.test(arg)) && !own.some((arg) => SECRET_OPTIONS.test(arg))) return
  throw new CommandFailure(
    Exit.usage,
    'A secret may not be an argument: other users see it in the process list and the shell keeps it in its history.\n' +
      'Pipe it in (`agent-gateway credentials add … < secret.txt`), type it at the prompt, or name a file with --secret-file. ' +
      'If this one was real, treat it as leaked: rotate it.',
  )
}

/**
 * @param what is asked for, for the prompt and the refusals: `secret`, `capability`
 * @throws {CommandFailure} when nothing came, when the file cannot be read
 */
export async function readSecret(what: string, file: string | undefined): Promise<Secret<string>> {
  const raw = file !== undefined ? await readSecretFile(what, file) : await readStandardInput(what)
  // Editors and `echo` end a line; an upstream's key never ends in one.
  const text = raw.replace(/\r?\n$/, '')
  if (text === '')
    throw new CommandFailure(
      Exit.usage,
      `No ${what} was given. Pipe it in, type it at the prompt, or name a file.`,
    )
  return new Secret(text)
}

async function readSecretFile(what: string, file: string): Promise<string> {
  try {
    const bytes = await readFile(file)
    if (bytes.length > MAX_SECRET_BYTES) throw tooLong(what)
    return bytes.toString('utf8')
  } catch (thrown) {
    if (thrown instanceof CommandFailure) throw thrown
    throw new CommandFailure(
      Exit.usage,
      `The ${what} file ${file} cannot be read: it does not exist, or this user may not read it.`,
    )
  }
}

const tooLong = (what: string) =>
  new CommandFailure(
    Exit.usage,
    `The ${what} is longer than ${MAX_SECRET_BYTES} bytes: is it the right file?`,
  )

async function readStandardInput(what: string): Promise<string> {
  if (process.stdin.isTTY) return prompt(what)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_SECRET_BYTES) throw tooLong(what)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** readline in terminal mode switches the echo off; what it would draw goes nowhere. */
function prompt(what: string): Promise<string> {
  process.stderr.write(`${what} (not shown): `)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  return new Promise((resolve, reject) => {
    terminal.once('line', (line) => {
      process.stderr.write('\n')
      resolve(line)
      terminal.close()
    })
    terminal.once('SIGINT', () => {
      process.stderr.write('\n')
      reject(new CommandFailure(Exit.failed, 'Cancelled.'))
      terminal.close()
    })
    terminal.once('close', () => resolve(''))
  })
}
