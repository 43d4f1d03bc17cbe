// The thread that searches long responses, one after the other. It knows a secret for as long as one search takes: the bytes that
// it was given are its own, and are overwritten before it answers.
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { Secret } from '../../../lib/secret.ts'
import { type LeakVerdict, searchWhole } from '../../leak/inspection.ts'
import type { Searched } from '../../leak/search.ts'

export interface SearchRequest extends Pick<Searched, 'statusText' | 'headers'> {
  readonly body: Uint8Array
  /** Each in UTF-16, which every text survives unchanged. */
  readonly secrets: readonly Uint8Array[]
  readonly scheme: string
}
export type SearchAnswer = { readonly ready: true } | LeakVerdict

/** Whoever waits for the event loop goes before whoever waits for a search. Linux ranks threads, other systems only processes. */
const NICENESS = 10

try {
  if (process.platform === 'linux') setPriority(NICENESS)
} catch {
  // A container may forbid it; searches then take their share of the cores like everything else.
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

function search({ secrets, scheme, body, statusText, headers }: SearchRequest): LeakVerdict {
  try {
    const texts = secrets.map((bytes) => new Secret(asBuffer(bytes).toString('utf16le')))
    return searchWhole({ secrets: texts, scheme }, { statusText, headers, body: asBuffer(body) })
  } finally {
    for (const bytes of [...secrets, body]) bytes.fill(0)
  }
}

const post = (answer: SearchAnswer) => parentPort?.postMessage(answer, [])

parentPort?.on('message', (request: SearchRequest) => post(search(request)))
post({ ready: true })
