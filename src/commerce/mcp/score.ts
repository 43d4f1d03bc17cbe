// MCP without a payment protocol inside: much of what is asked here the protocol has no field for, and the report says so.
import type { McpFacts } from './facts.ts'
import { commonChecks, judgeAgent, judgeCorrelation } from '../rubric/common.ts'
import { bindingAt, isUnguessable, placeOfJsonRpcId } from '../rubric/form.ts'
import {
  all,
  type Check,
  limit,
  none,
  type Rubric,
  some,
  type Subject,
  type Verdict,
} from '../rubric/model.ts'

type Mcp = Subject<McpFacts>

const TRANSPORT = 'MCP docs/specification/2026-07-28/basic/transports/streamable-http.mdx'
const BASIC = 'MCP docs/specification/2026-07-28/basic/index.mdx'
const TOOLS = 'MCP docs/specification/2026-07-28/server/tools.mdx'

/** The headers that repeat the body came with this version. A call that says no version is held to it: silence earns no points. */
const HEADERS_SINCE = '2026-07-28'
const hasHeaders = ({ facts }: Mcp) =>
  facts.headerMethod !== null ||
  facts.headerName !== null ||
  (facts.version?.value ?? HEADERS_SINCE) >= HEADERS_SINCE

function judgeHeaders(subject: Mcp): Verdict | null {
  if (!hasHeaders(subject)) return null
  const { headerMethod, headerName, name } = subject.facts
  const wanted = name ? [headerMethod, headerName] : [headerMethod]
  const differing = wanted
    .map((header) => header && bindingAt(subject, 'header_body', header.at))
    .find((binding) => binding?.verdict === 'mismatch')
  if (differing) return none(differing.message, differing.at)
  const there = wanted.filter((header) => header !== null)
  const at = there[0]?.at
  return there.length === wanted.length
    ? all(at)
    : some(there.length * 4, 'Mcp-Method or Mcp-Name is missing.', at)
}

function judgeVersion(subject: Mcp): Verdict | null {
  if (!hasHeaders(subject)) return null
  const { headerVersion, metaVersion } = subject.facts
  if (headerVersion && metaVersion)
    return headerVersion.value === metaVersion.value
      ? all(headerVersion.at)
      : none('Header and body name different versions.', headerVersion.at)
  const one = headerVersion ?? metaVersion
  return one
    ? some(2, 'The version is said once, not in header and body.', one.at)
    : none('No version is said.')
}

const isDeclaredRepeatable = ({ annotations }: Mcp) =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true

const signatureOf = ({ http }: Mcp) => http.signatures.find(({ value }) => value !== null) ?? null

const checks: readonly Check<McpFacts>[] = [
  {
    id: 'MCP-BIND-01',
    max: 8,
    asks: 'Mcp-Method and Mcp-Name equal the body (from 2026-07-28).',
    remediation: 'Set both headers from the body that is sent; servers answer a difference with -32020.',
    spec: TRANSPORT,
    judge: judgeHeaders,
  },
  {
    id: 'MCP-BIND-02',
    max: 5,
    asks: 'MCP-Protocol-Version equals the version in `_meta` (from 2026-07-28).',
    remediation: 'Send the version in the header and in `_meta`.',
    spec: TRANSPORT,
    judge: judgeVersion,
  },
  {
    id: 'MCP-BIND-03',
    max: 4,
    asks: 'The call names a tool and has an object of arguments.',
    remediation: 'Send `params.name` and `params.arguments`.',
    spec: TOOLS,
    judge: ({ facts: { method, name, arguments: given } }) => {
      if (method?.value !== 'tools/call') return null
      if (name && given) return all(name.at)
      return some(
        name || given ? 2 : 0,
        'The tool or its arguments are missing.',
        (name ?? given ?? method).at,
      )
    },
  },
  {
    id: 'MCP-BIND-04',
    max: 3,
    asks: 'The caller is authorised or the request is signed.',
    remediation: 'Send a token for exactly this server (RFC 8707), or sign the request (RFC 9421).',
    spec: BASIC,
    judge: (subject) => {
      const at = subject.http.authorization?.at ?? signatureOf(subject)?.at
      return at === undefined ? none('Nobody vouches for this call.') : all(at)
    },
  },
  {
    id: 'MCP-REPLAY-01',
    max: 6,
    asks: 'A request id of 128 bits (any other: 2).',
    remediation: 'Use a UUID as JSON-RPC id.',
    spec: BASIC,
    judge: ({ facts: { id } }) => {
      if (!id) return none('The request has no id.')
      return isUnguessable(id.value) ? all(id.at) : some(2, 'The id is unique in flight only.', id.at)
    },
  },
  {
    id: 'MCP-REPLAY-02',
    max: 8,
    asks: 'An application key that a second use of is recognised by.',
    remediation: 'Carry an application idempotency key in `_meta`.',
    spec: null,
    judge: ({ facts: { idempotencyKey } }) =>
      idempotencyKey
        ? all(idempotencyKey.at)
        : limit(0, 'MCP has no such field: a copied call looks like a new one.'),
  },
  {
    id: 'MCP-REPLAY-03',
    max: 6,
    asks: 'A signature.',
    remediation: 'Sign the request (RFC 9421) where the server takes it.',
    spec: null,
    judge: (subject) => {
      const signature = signatureOf(subject)
      return signature ? all(signature.at) : limit(0, 'MCP has no such field: calls are not signed.')
    },
  },
  {
    id: 'MCP-IDEM-01',
    max: 20,
    asks: 'An application idempotency key, or a tool declared read-only or idempotent (supply `tool_annotations`).',
    remediation:
      'Carry an application idempotency key in `_meta`, declare `idempotentHint`, make the handler replay the first result.',
    spec: TOOLS,
    judge: (subject) => {
      const { idempotencyKey } = subject.facts
      if (idempotencyKey) return all(idempotencyKey.at)
      return isDeclaredRepeatable(subject)
        ? all('/tool_annotations')
        : limit(0, 'MCP has no such field: after a broken stream the call is sent again with a new id.')
    },
  },
  {
    id: 'MCP-FRESH-01',
    max: 15,
    asks: 'A signature with a date.',
    remediation: 'Sign with `created` and `expires` (RFC 9421) where the server takes it.',
    spec: null,
    judge: ({ http }) => {
      const [dated] = http.signatures.flatMap(({ created, value }) => (value === null ? [] : (created ?? [])))
      if (dated) return all(dated.at)
      return limit(0, 'MCP has no such field: a call never becomes too old.')
    },
  },
  ...commonChecks<McpFacts>('MCP', 0, { retry: TRANSPORT, receipt: null }, (subject) => {
    const { facts, http } = subject
    const signature = signatureOf(subject)
    return {
      key: facts.idempotencyKey,
      repeatable: isDeclaredRepeatable(subject) ? { value: true, at: '/tool_annotations' } : null,
      blame: 'MCP has no field for a key.',
      identity: facts.idempotencyKey?.at ?? (isDeclaredRepeatable(subject) ? '/tool_annotations' : null),
      correlation: judgeCorrelation(
        [facts.traceparent?.at, http.traceparent?.at, http.requestId?.at],
        placeOfJsonRpcId(subject),
      ),
      agent: judgeAgent(
        facts.clientInfo?.at ?? http.authorization?.at,
        'Neither client nor caller is named.',
      ),
      signature: signature
        ? all(signature.at)
        : limit(0, 'MCP has no such field: nothing of a call can be proven to others.'),
    }
  }),
]

export const mcpCall: Rubric<McpFacts> = {
  protocol: 'mcp',
  covers: 'a request (2026-07-28, 2025-11-25 and before)',
  checks,
  caps: () => [],
}
