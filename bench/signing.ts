// What signing costs one request: CPU of this thread, without network or store. `node bench/signing.ts`
import { signSigv4 } from '../src/egress/kinds/aws-sigv4.ts'
import { signHmac } from '../src/egress/kinds/hmac.ts'
import type { RequestToSign } from '../src/egress/kinds/kind.ts'
import { Secret } from '../src/lib/secret.ts'
import { median, printTable } from './support.ts'

const ROUNDS = 9
const REQUESTS = 2000
const NOW = Date.parse('2026-06-01T12:00:00Z')
const partsOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([name, text]) => [name, new Secret(text)]))
const keys = partsOf({
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
})
const requestOf = (bytes: number): RequestToSign => ({
  method: 'POST',
  url: new URL('https://dynamodb.eu-west-1.amazonaws.com/tables/orders?list-type=2&prefix=a%20b'),
  headers: [
    ['accept', '*/*'],
    ['content-type', 'application/x-amz-json-1.0'],
    ['x-amz-target', 'DynamoDB_20120810.PutItem'],
  ],
  body: Buffer.alloc(bytes, 'a'),
})
const sigv4 = (service: string) => (request: RequestToSign) =>
  signSigv4({ type: 'aws_sigv4', region: 'eu-west-1', service }, keys, request, NOW)
const hmacParts = partsOf({ key: 'NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j' })
const hmac = async (request: RequestToSign) =>
  signHmac(
    {
      type: 'hmac',
      algorithm: 'sha256',
      encoding: 'hex',
      message: '{timestamp}{method}{target}{body}',
      headers: { 'x-timestamp': '{timestamp}', 'x-signature': '{signature}' },
    },
    hmacParts,
    request,
    NOW,
  )

/** Median of the rounds, in milliseconds of CPU for one request. */
async function measure(sign: (request: RequestToSign) => Promise<unknown>, request: RequestToSign) {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < REQUESTS; i++) await sign(request)
    const { user, system } = process.cpuUsage(before)
    rounds.push((user + system) / 1000 / REQUESTS)
  }
  return median(rounds).toFixed(3)
}

const rows: [string, string, string][] = []
for (const [size, bytes] of [
  ['1 KiB', 1024],
  ['64 KiB', 65_536],
] as const) {
  rows.push(['AWS Signature Version 4', size, await measure(sigv4('dynamodb'), requestOf(bytes))])
  rows.push(['AWS Signature Version 4, S3', size, await measure(sigv4('s3'), requestOf(bytes))])
  rows.push(['HMAC-SHA256 by template', size, await measure(hmac, requestOf(bytes))])
}
printTable('Signing one request', ['kind', 'body', 'CPU ms'], rows)
