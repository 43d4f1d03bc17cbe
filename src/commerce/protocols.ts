// The protocols of agent commerce that are known: a further one is its folder and its line here. Its name goes into the public
// vocabulary as well (`ProtocolName` in schemas/commerce.ts), which a test holds against this list.
import { acp } from './acp/index.ts'
import { ap2 } from './ap2/index.ts'
import { mcp } from './mcp/index.ts'
import { mpp } from './mpp/index.ts'
import type { Protocol } from './protocol.ts'
import { ucp } from './ucp/index.ts'
import { x402 } from './x402/index.ts'

/** Documents list them in this order; of those with one role, the first that a message speaks is its primary one. */
export const PROTOCOLS: readonly Protocol[] = [x402, mpp, ap2, ucp, acp, mcp]
