// What the rest of the gateway knows about transactions, asked about one that is on its way to a merchant: the protocols it
// speaks, and what in it contradicts itself. Detection and bindings are those of /v1/inspect and /v1/test.
import { findBindings } from '../commerce/bindings.ts'
import { detect } from '../commerce/detect.ts'
import { readMessage } from '../commerce/message.ts'
import type { Binding } from '../commerce/ports.ts'
import type { HeaderPairs } from './headers.ts'
import type { Finding } from './ports.ts'

export interface Recognised {
  readonly protocols: readonly string[]
  readonly findings: readonly Finding[]
}

/** Those that money is asked for or paid with. */
const PAYING = new Set(['x402', 'mpp', 'ucp', 'acp', 'ap2'])

/** Where it goes is judged by what the payment itself says (inspect.ts), with the words of the edge. */
const CONTRADICTIONS: Partial<Record<Binding['kind'], string>> = {
  payee: 'The payment was signed for another payee than the one it names.',
  amount: 'The payment was signed over another amount than the one it names.',
  digest: 'A digest in the request is not that of the body.',
  hash: 'A hash in a mandate is not that of what it stands for.',
  offer: 'A signed offer has other terms than those beside it.',
  constraint: 'A mandate is outside the bounds it was given.',
  header_body: 'Headers of MCP name another method or tool than the body.',
}

/** @param text the body, where it is JSON */
export function recognise(request: {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: HeaderPairs
  readonly text: string | undefined
}): Recognised {
  const headers = Object.create(null) as Record<string, string[]>
  for (const [name, value] of request.headers) (headers[name] ??= []).push(value)
  const { method, host, path, text: body } = request
  const message = readMessage({ target: `https://${host}${path}`, method, headers, body })
  const detection = detect(message)
  const kinds = new Set(
    findBindings(message, detection).flatMap(({ kind, verdict }) => (verdict === 'mismatch' ? [kind] : [])),
  )
  return {
    protocols: detection.layers.map(({ name }) => name).filter((name) => PAYING.has(name)),
    findings: [...kinds].flatMap((kind) => {
      const detail = CONTRADICTIONS[kind]
      return detail === undefined ? [] : [{ rule: `contradicts_${kind}`, blocks: false, detail }]
    }),
  }
}
