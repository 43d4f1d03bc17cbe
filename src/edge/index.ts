// The edge proxy, as the rest of the gateway sees it.
import type { Edge } from './ports.ts'
import { createAdmission } from './admission.ts'
import { createEdgeCheck } from './check.ts'
import { createConsentSource } from './consent.ts'
import { createEdgeForward } from './forward.ts'
import type { EdgeParts } from './ports.ts'

/** Consent and forwarding of the edge proxy. */
export function createEdge(parts: EdgeParts): Edge {
  const consents = createConsentSource(parts)
  return {
    forward: createEdgeForward({ ...parts, consents, admission: createAdmission(parts.limiter) }),
    check: createEdgeCheck(parts, consents),
  }
}
