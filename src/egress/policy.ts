// The operator's brake: hosts that no capability reaches, and a switch that stops all outbound requests at once.
import { z } from 'zod'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'

const EgressPolicyDocument = z.strictObject({
  /** Host names; each denies itself and everything below it. */
  denied_hosts: z.array(z.string().min(1).max(253).toLowerCase()).max(10_000).default([]),
  /** True: every outbound request is refused with 503 until it is false again. */
  paused: z.boolean().default(false),
})
export type EgressPolicy = z.infer<typeof EgressPolicyDocument>

export const egressPolicyDocument: DocumentKind<EgressPolicy> = {
  name: 'egress-policy',
  parse: (value) => EgressPolicyDocument.parse(value),
  initial: { denied_hosts: [], paused: false },
}

export type PolicyVerdict =
  { readonly ok: true } | { readonly ok: false; readonly reason: 'paused' | 'denied_host' }

export function checkPolicy(policy: EgressPolicy, host: string): PolicyVerdict {
  if (policy.paused) return { ok: false, reason: 'paused' }
  const denied = policy.denied_hosts.some((entry) => host === entry || host.endsWith(`.${entry}`))
  return denied ? { ok: false, reason: 'denied_host' } : { ok: true }
}

const FRESH_MS = 250

/**
 * The policy as it stands now, or stood a quarter of a second ago: every attempt asks, and the document is a file.
 * A hand edit that broke it is reported once, by the log.
 */
export function createPolicyReader(
  documents: DocumentStore,
  report: (problem: string) => void,
  now: () => number,
): () => Promise<EgressPolicy> {
  let reported: string | undefined
  let reading: Promise<EgressPolicy> | undefined
  let readAt = 0

  async function read(): Promise<EgressPolicy> {
    const { value, problem } = await documents.read(egressPolicyDocument)
    if (problem !== undefined && problem !== reported) report(problem)
    reported = problem
    return value
  }

  return () => {
    const at = now()
    if (reading !== undefined && at - readAt < FRESH_MS) return reading
    readAt = at
    const started = read()
    reading = started
    // What could not be read is asked again by the next attempt, and refuses this one.
    started.catch(() => {
      if (reading === started) reading = undefined
    })
    return started
  }
}
