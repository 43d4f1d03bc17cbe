// The operator's egress policy: hosts that no capability reaches, and a switch that stops all outbound requests at once.
import { z } from 'zod'
import { createDocumentReader } from '../core/document-reader.ts'
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

/** @param host canonical; an entry denies its subdomains too */
export function checkPolicy(policy: EgressPolicy, host: string): PolicyVerdict {
  if (policy.paused) return { ok: false, reason: 'paused' }
  const denied = policy.denied_hosts.some((entry) => host === entry || host.endsWith(`.${entry}`))
  return denied ? { ok: false, reason: 'denied_host' } : { ok: true }
}

/** @returns the policy of now, or of a quarter of a second ago; rejects where it could not be read, which refuses the attempt */
export const createPolicyReader = (
  documents: DocumentStore,
  report: (problem: string) => void,
  now: () => number,
): (() => Promise<EgressPolicy>) =>
  createDocumentReader({ documents, kind: egressPolicyDocument, toValue: (policy) => policy, report, now })
