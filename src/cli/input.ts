// Files that commands take as input, and the JSON in them; - is stdin.
import { readFile, stat } from 'node:fs/promises'
import { OperatorJsonFault, parseOperatorJson } from '../lib/operator-json.ts'
import { CommandFailure, Exit } from './exit.ts'

/** More than any request body or mandate the gateway takes. */
const MAX_INPUT_BYTES = 512 * 1024

/**
 * @param what it is, for the refusals: `body`, `mandate`
 * @param maxBytes of it
 * @throws {CommandFailure} when it cannot be read or is too long
 */
export async function readInput(what: string, file: string, maxBytes = MAX_INPUT_BYTES): Promise<Buffer> {
  const bytes = file === '-' ? await readStandardInput(what, maxBytes) : await readOne(what, file, maxBytes)
  if (bytes.length > maxBytes) throw tooLong(what, maxBytes)
  return bytes
}

const tooLong = (what: string, maxBytes: number) =>
  new CommandFailure(Exit.usage, `The ${what} is longer than ${maxBytes} bytes: is it the right file?`)

async function readOne(what: string, file: string, maxBytes: number): Promise<Buffer> {
  const unreadable = () =>
    new CommandFailure(
      Exit.usage,
      `The ${what} file ${file} cannot be read: it does not exist, or this user may not read it.`,
    )
  const about = await stat(file).catch(() => Promise.reject(unreadable()))
  // A pipe that nobody writes to, and a device without an end, would be read for ever.
  if (!about.isFile() && !about.isDirectory())
    throw new CommandFailure(
      Exit.usage,
      `The ${what} ${file} is a pipe or a device, not a file: pipe what it holds into this command, and name - as the file.`,
    )
  if (about.size > maxBytes) throw tooLong(what, maxBytes)
  return readFile(file).catch(() => Promise.reject(unreadable()))
}

async function readStandardInput(what: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLong(what, maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * @param name of the file, for the refusal
 * @throws {CommandFailure} where it is no JSON, or an object in it has a member twice; quotes no value
 */
export function parseInput(name: string, text: string): unknown {
  try {
    return parseOperatorJson(text)
  } catch (thrown) {
    if (!(thrown instanceof OperatorJsonFault)) throw thrown
    throw new CommandFailure(Exit.usage, `${name} ${thrown.message}.`)
  }
}
