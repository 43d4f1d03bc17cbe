// Fragments of the protocols that pay or carry a payment: x402, MPP, MCP.
import { DIGEST, type Fragments, HTTPS, json, KEY, lines, TRACE } from './write.ts'

const REQUIREMENT = {
  scheme: 'exact',
  network: 'eip155:<chain id>',
  asset: '<token address>',
  amount: '<integer of the smallest unit>',
  payTo: '<address of the seller>',
  maxTimeoutSeconds: 60,
}
const RESOURCE = json({ resource: { url: 'https://<host>/<path that is asked for>' } })
const IDENTIFIER = json({
  extensions: {
    'payment-identifier': {
      info: { required: true, id: '<16 to 128 of A-Z a-z 0-9 _ -, made once per purchase>' },
    },
  },
})
const ADVERTISED = json({ extensions: { 'payment-identifier': { info: { required: true } } } })
const OFFER = json({
  extensions: {
    'offer-receipt': {
      info: {
        offers: [{ format: 'jws', acceptIndex: 0, signature: '<JWS over the requirement, with validUntil>' }],
      },
    },
  },
})
const authorization = (members: object) => json({ payload: { authorization: members } })

export const X402: Fragments = {
  'X402-BIND-01 X402-BIND-11': RESOURCE,
  'X402-BIND-02': json({
    accepted: { payTo: '<address of the seller>' },
    payload: { authorization: { to: '<the same address>' } },
  }),
  'X402-BIND-03': json({
    accepted: { amount: '<integer of the smallest unit>' },
    payload: { authorization: { value: '<the same integer>' } },
  }),
  'X402-BIND-04 X402-BIND-12 X402-BIND-14': json({
    network: 'eip155:<chain id>',
    asset: '<token address>',
    payTo: '<address of the seller>',
  }),
  'X402-BIND-05': DIGEST,
  'X402-BIND-13 X402-FRESH-04 X402-FRESH-12 X402-AUDIT-04 X402-AUDIT-11': OFFER,
  'X402-REPLAY-01': authorization({ nonce: '0x<64 hexadecimal digits from a CSPRNG>' }),
  'X402-REPLAY-02 X402-AUDIT-03': json({
    payload: { signature: '0x<130 hexadecimal digits, as the wallet gave them>' },
  }),
  'X402-REPLAY-03 X402-IDEM-01 X402-IDEM-02 X402-RETRY-01 X402-RETRY-02': IDENTIFIER,
  'X402-IDEM-11 X402-RETRY-11': ADVERTISED,
  'X402-FRESH-01 X402-FRESH-02 X402-FRESH-03': authorization({
    validAfter: '<seconds since 1970>',
    validBefore: '<seconds since 1970, at most maxTimeoutSeconds from now>',
  }),
  'X402-FRESH-11': json({ accepts: [REQUIREMENT] }),
  'X402-RETRY-03 X402-RETRY-12 X402-RETRY-21': HTTPS,
  'X402-RETRY-04 X402-RETRY-13': json({ amount: '10000' }),
  'X402-AUDIT-01': TRACE,
  'X402-AUDIT-02': authorization({ from: '<address of the payer>' }),
  'X402-AUDIT-21 X402-AUDIT-22': json({
    success: true,
    transaction: '<hash of the transaction>',
    network: 'eip155:<chain id>',
    payer: '<address of the payer>',
  }),
  'X402-AUDIT-23': json({
    extensions: {
      'offer-receipt': { info: { receipt: { format: 'jws', signature: '<JWS of the receipt>' } } },
    },
  }),
}

const challenge = (...params: readonly string[]) =>
  lines('WWW-Authenticate: Payment', params.map((param) => `  ${param}`).join(',\n'))
const ID = 'id="<43 characters: base64url of HMAC-SHA256 over the challenge>"'
const EXPIRES = challenge('expires="2026-01-15T12:05:00Z"')

export const MPP: Fragments = {
  'MPP-BIND-01 MPP-BIND-11': challenge('realm="<host that answers>"'),
  'MPP-BIND-02 MPP-BIND-12': json({
    amount: '<integer of the smallest unit>',
    currency: '<token address, or code such as usd>',
    recipient: '<account of the seller>',
  }),
  'MPP-BIND-03': json({
    challenge: {
      id: '<as the server wrote it>',
      realm: '<as the server wrote it>',
      method: '<as the server wrote it>',
      intent: '<as the server wrote it>',
      request: '<as the server wrote it>',
    },
    payload: { type: '<type of the method>' },
  }),
  'MPP-BIND-13': challenge(
    ID,
    'realm="<host that answers>"',
    'method="<tempo, evm, stripe …>"',
    'intent="<charge or session>"',
    'request="<base64url of the request>"',
  ),
  'MPP-BIND-04': challenge('digest="sha-256=:<base64 of the SHA-256 of the body>:"'),
  'MPP-BIND-05 MPP-BIND-15': json({
    amount: '1000',
    methodDetails: { splits: [{ recipient: '<account>', amount: '50' }] },
  }),
  'MPP-REPLAY-01 MPP-REPLAY-03 MPP-REPLAY-11 MPP-REPLAY-13 MPP-RETRY-02': challenge(ID),
  'MPP-REPLAY-02': json({ payload: { type: 'transaction', signature: '0x<signed transaction>' } }),
  'MPP-IDEM-01 MPP-IDEM-02 MPP-RETRY-01': KEY,
  'MPP-FRESH-01 MPP-FRESH-02 MPP-FRESH-03 MPP-FRESH-11 MPP-FRESH-12 MPP-FRESH-13': EXPIRES,
  'MPP-RETRY-03 MPP-RETRY-11 MPP-RETRY-21': HTTPS,
  'MPP-RETRY-04': json({ amount: '1000000' }),
  'MPP-AUDIT-01': TRACE,
  'MPP-AUDIT-02': json({ source: 'did:pkh:eip155:<chain id>:<address of the payer>' }),
  'MPP-AUDIT-03': json({ payload: { signature: '0x<130 hexadecimal digits of the key of the payer>' } }),
  'MPP-AUDIT-21 MPP-AUDIT-22 MPP-AUDIT-23': json({
    status: 'success',
    method: '<tempo, evm, stripe …>',
    timestamp: '2026-01-15T12:01:00Z',
    reference: '<transaction or charge>',
  }),
}

const meta = (members: object) => json({ params: { _meta: members } })
const APPLICATION_KEY = meta({ '<your domain>/idempotency-key': '<UUID v4, made once per purchase>' })
const SIGNED = lines(
  'Signature-Input: sig1=("@method" "@authority" "@path" "content-digest");created=<seconds>;expires=<seconds>;keyid="<key>"',
  'Signature: sig1=:<base64 of the signature>:',
)

export const MCP: Fragments = {
  'MCP-BIND-01': lines('Mcp-Method: tools/call', 'Mcp-Name: <params.name of the body>'),
  'MCP-BIND-02': lines(
    'MCP-Protocol-Version: 2026-07-28',
    meta({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }),
  ),
  'MCP-BIND-03': json({ method: 'tools/call', params: { name: '<tool>', arguments: {} } }),
  'MCP-BIND-04': 'Authorization: Bearer <token for exactly this server>',
  'MCP-REPLAY-01': json({ jsonrpc: '2.0', id: '<UUID v4>' }),
  'MCP-REPLAY-02 MCP-IDEM-01 MCP-RETRY-01 MCP-RETRY-02': APPLICATION_KEY,
  'MCP-REPLAY-03 MCP-FRESH-01 MCP-AUDIT-03': SIGNED,
  'MCP-RETRY-03': HTTPS,
  'MCP-RETRY-04': json({ arguments: { amount: 1890 } }),
  'MCP-AUDIT-01': meta({ traceparent: '00-<32 hexadecimal digits>-<16 hexadecimal digits>-01' }),
  'MCP-AUDIT-02': meta({
    'io.modelcontextprotocol/clientInfo': { name: '<name of the agent>', version: '<version>' },
  }),
}
