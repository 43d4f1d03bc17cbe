// What the rest of the gateway knows about transactions, asked about one that is on its way to a merchant: the protocols it
// speaks, and what in it contradicts itself. Detection and bindings are those of /v1/inspect and /v1/test.
import { findBindings } from '../commerce/bindings.ts'
import { detect } from '../commerce/detect.ts'
import { readMessage } from '../commerce/message.ts'
import { judgeMessage } from '../commerce/policy/judge.ts'
import { REASONS } from '../commerce/policy/reasons.ts'
import type { Binding, Message } from '../commerce/ports.ts'
import type { HeaderPairs } from './headers.ts'
import type { InspectionRules } from './inspect.ts'
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
export function recognise(
  request: {
    readonly method: string
    readonly host: string
    readonly authority?: string
    readonly path: string
    readonly headers: HeaderPairs
    readonly text: string | undefined
  },
  rules?: InspectionRules,
): Recognised {
  const headers = Object.create(null) as Record<string, string[]>
  for (const [name, value] of request.headers) (headers[name] ??= []).push(value)
  const { method, authority = request.host, path, text: body } = request
  const message = readMessage({ target: `https://${authority}${path}`, method, headers, body })
  const detection = detect(message)
  const kinds = new Set(
    findBindings(message, detection).flatMap(({ kind, verdict }) => (verdict === 'mismatch' ? [kind] : [])),
  )
  return {
    protocols: detection.layers.map(({ name }) => name).filter((name) => PAYING.has(name)),
    findings: [
      ...[...kinds].flatMap((kind) => {
        const detail = CONTRADICTIONS[kind]
        return detail === undefined ? [] : [{ rule: `contradicts_${kind}`, blocks: false, detail }]
      }),
      ...(rules?.policy.isWritten === true ? applyPolicy(message, rules) : []),
    ],
  }
}

/** Of what is forwarded the engine judges the address, and much of it is no commerce at all. */
const NOT_ASKED = new Set<string>(['PRIVATE_TARGET', 'UNKNOWN_PROTOCOL'])

/** Findings have the code of the reason, in words that hold nothing of the transaction. */
function applyPolicy(message: Message, { policy, now }: InspectionRules): Finding[] {
  const blocks = new Map<keyof typeof REASONS, boolean>()
  for (const { code, severity } of judgeMessage(message, policy, now).reasons) {
    if (severity === 'info' || NOT_ASKED.has(code)) continue
    // The edge adds a key where there is none.
    if (code === 'UNSAFE_WITHOUT_IDEMPOTENCY' && !policy.requiresKey) continue
    blocks.set(code, blocks.get(code) === true || severity === 'deny')
  }
  return [...blocks].map(([code, isDenied]) => ({
    rule: code,
    blocks: isDenied,
    detail: REASONS[code].message,
  }))
}
