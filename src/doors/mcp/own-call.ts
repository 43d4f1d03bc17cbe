// A resource or a completion that is made of a tool's answer asks the tool as everybody does: who may see what, how often, and what
// the log says is decided by the call path, not here.
import type { CallResult } from '../../core/call.ts'
import type { Link } from './link.ts'
import type { OfferCore } from './offer-core.ts'

const neverGone = () => new AbortController().signal

/** Calls a tool with the tokens of the connection; undefined where MCP does not serve it. Never throws for what the tool refuses. */
export async function callOwn(
  { parts }: Pick<OfferCore, 'parts'>,
  { tokens, address, requestId, traceparent }: Link,
  name: string,
  input: unknown,
): Promise<CallResult | undefined> {
  const tool = parts.registry.find(name)?.tool
  if (!tool?.doors.includes('mcp')) return undefined
  return parts.calls.call({
    tool,
    input,
    door: 'mcp',
    tokens,
    address,
    requestId,
    traceparent,
    signal: neverGone,
  })
}
