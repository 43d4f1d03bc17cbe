import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  digestContent,
  digestLongContent,
  digestRequest,
  digestResponse,
} from '../../../src/egress/digest.ts'
import { cites } from '../../requirements.ts'

const request = {
  method: 'POST',
  url: 'https://api.example.com/v1/things?limit=1',
  headers: [
    ['content-type', 'application/json'],
    ['accept', '*/*'],
  ],
  body: Buffer.from('{"a":1}'),
  credentialId: 'cred_1',
  secretVersion: 2,
} as const

test(
  cites('egress:digest:canonical', 'is the hash of the canonical JSON that anybody can write down'),
  () => {
    const content = createHash('sha256').update('{"a":1}').digest('base64')
    const canonical =
      `{"content_digest":"sha-256=:${content}:","credential_id":"cred_1",` +
      '"headers":[["accept","*/*"],["content-type","application/json"]],"method":"POST","secret_version":2,' +
      '"url":"https://api.example.com/v1/things?limit=1","v":1}'
    expect(digestRequest(request)).toBe(createHash('sha256').update(canonical).digest('base64url'))
  },
)

test('does not depend on the order of headers, and on everything else', () => {
  const digest = digestRequest(request)
  expect(digestRequest({ ...request, headers: request.headers.toReversed() })).toBe(digest)
  const changes = [
    { method: 'PUT' },
    { url: `${request.url}&x=1` },
    { headers: [] },
    { body: Buffer.from('{"a":2}') },
    { body: undefined },
    { credentialId: 'cred_2' },
    { secretVersion: 3 },
  ]
  const digests = changes.map((change) => digestRequest({ ...request, ...change }))
  expect(new Set([digest, ...digests]).size).toBe(changes.length + 1)
})

test('keeps the order of a header that is there more than once', () => {
  const repeated = Array.from({ length: 80 }, (_, i) => ['x-a', String((i * 37) % 80)] as const)
  const content = createHash('sha256').update('{"a":1}').digest('base64')
  const canonical = JSON.stringify({
    content_digest: `sha-256=:${content}:`,
    credential_id: null,
    headers: [['accept', '*/*'], ...repeated, ['x-b', '1']],
    method: 'POST',
    secret_version: null,
    url: request.url,
    v: 1,
  })
  const headers = [['x-b', '1'] as const, ...repeated, ['accept', '*/*'] as const]
  expect(digestRequest({ ...request, headers, credentialId: null, secretVersion: null })).toBe(
    createHash('sha256').update(canonical).digest('base64url'),
  )
})

test('no body and an empty body are the same content', () => {
  expect(digestContent(undefined)).toBe(digestContent(Buffer.alloc(0)))
})

test(cites('egress:digest:response', 'a response is digested as it was passed on'), () => {
  const response = {
    status: 200,
    headers: { b: '2', a: '1' },
    contentDigest: digestContent(Buffer.from('x')),
  }
  expect(digestResponse({ ...response, headers: { a: '1', b: '2' } })).toBe(digestResponse(response))
  expect(digestResponse({ ...response, status: 201 })).not.toBe(digestResponse(response))
  const other = digestContent(Buffer.from('y'))
  expect(digestResponse({ ...response, contentDigest: other })).not.toBe(digestResponse(response))
})

test('of a long body is the same, and takes a turn for each part of it', async () => {
  for (const [length, parts] of [
    [1, 1],
    [256 * 1024, 1],
    [1_000_000, 4],
  ] as const) {
    const body = Buffer.alloc(length, 'body')
    let turns = 0
    const digest = await digestLongContent(body, { turn: async () => void turns++ })
    expect({ digest, turns }).toEqual({ digest: digestContent(body), turns: parts })
  }
})
