// The published keys of a gateway, and the files that are checked with them: what verifying offline needs.
import { readFile } from 'node:fs/promises'
import { isObject } from '../lib/json.ts'
import type { KeyDocument } from '../receipts/types.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import type { ConnectionOptions } from './options.ts'

export const KEYS_PATH = '/.well-known/gateway-egress-key.json'
/** Something signed by itself on a line. */
export const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Reads the keys from the file of `--keys`, else from the gateway, without a service key. */
export async function readKeys(
  options: ConnectionOptions & { readonly keys?: string },
): Promise<KeyDocument> {
  return options.keys === undefined
    ? fetchKeys(options)
    : parseKeys(await readText(options.keys), options.keys)
}

async function fetchKeys(options: ConnectionOptions): Promise<KeyDocument> {
  const client = await connect({ ...options, allowPlainHttp: true })
  const document = await client.get(KEYS_PATH)
  if (isKeyDocument(document)) return document
  throw new CommandFailure(
    Exit.unreachable,
    `${client.url}${KEYS_PATH} is not a key document. Check the address, or name saved keys with --keys.`,
  )
}

const isKeyDocument = (value: unknown): value is KeyDocument =>
  isObject(value) &&
  isListOfObjects(value['keys']) &&
  (value['revoked_keys'] === undefined || isListOfObjects(value['revoked_keys']))
const isListOfObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject)

function parseKeys(text: string, file: string): KeyDocument {
  const document = parseJsonOrUndefined(text)
  if (isKeyDocument(document)) return document
  throw new CommandFailure(
    Exit.usage,
    `${file} is not a key set: save ${KEYS_PATH} of the gateway that signed.`,
  )
}

export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A file, or stdin for `-`. */
export async function readText(file: string): Promise<string> {
  try {
    if (file !== '-') return await readFile(file, 'utf8')
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    throw new CommandFailure(
      Exit.usage,
      `${file} cannot be read: it does not exist, or this user may not read it. Name another file.`,
    )
  }
}
