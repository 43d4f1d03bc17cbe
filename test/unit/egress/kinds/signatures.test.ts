import { expect, it } from 'vitest'
import { createSignatures } from '../../../../src/egress/kinds/signatures.ts'
import { createLeakGates } from '../../../../src/egress/leak/inspection.ts'
import type { LeakGate } from '../../../../src/egress/leak/inspection.ts'
import type { SeenParts } from '../../../../src/egress/leak/reading.ts'
import type { OpenedCredential } from '../../../../src/egress/opened-credential-cache.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { makeCredential } from '../../../support/seed.ts'

const SECRET = 'k7Qx4LmR9vTz2KpW8nYcEu5Jb7Qd'
const wrap = { kid: '', enc: '', wrapped: '' }
const credential = { ...makeCredential('acct_1'), sealed: { iv: '', tag: '', ciphertext: '', wrap } }
const createLeakGate = createLeakGates({ search: async () => ({ ok: false, reason: 'failed' }) })
const sought = [new Secret(SECRET)]
const opened: OpenedCredential = {
  parts: new Map(),
  tls: undefined,
  replaced: [],
  sought,
  gate: () => createLeakGate(sought, credential),
}
const signature = { headers: [], value: 'ab'.repeat(32), encoding: 'hex', opensOthers: true } as const
const inspect = (gate: LeakGate, text: string, seen?: SeenParts) =>
  gate.inspect({ statusText: '', headers: [], body: Buffer.from(text) }, seen)

it('prepares one gate for all that is searched of an answer, so that parts which stand apart count together', async () => {
  let made = 0
  const signatures = createSignatures({
    createLeakGate: (...asked) => (made++, createLeakGate(...asked)),
    now: Date.now,
  })
  const gate = signatures.seek(credential, opened, signature, 200).gate()
  const seen: SeenParts = new Map()
  expect((await inspect(gate, `"${SECRET.slice(0, 8)}…"`, seen)).ok).toBe(true)
  expect((await inspect(gate, `"…${SECRET.slice(8, 19)}…"`, seen)).ok).toBe(false)
  expect(made).toBe(1)
})

it('keeps the gate of the secrets for all requests, and makes one for each signature', async () => {
  const asked: string[][] = []
  const count: typeof createLeakGate = (secrets, ...rest) => {
    asked.push(secrets.map((secret) => secret.use((text) => text)))
    return createLeakGate(secrets, ...rest)
  }
  let gate: LeakGate | undefined
  const kept = { ...opened, gate: () => (gate ??= count(sought, credential)) }
  const derived = { day: 'any', keys: () => [new Secret('the bytes of the key')] }
  const signatures = createSignatures({ createLeakGate: count, now: Date.now })
  const values = ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '89ab01cd23ef456789ab01cd23ef4567']
  for (const more of [{}, { derived }])
    for (const value of values) {
      const signed = { ...signature, value, ...more }
      const { gate } = signatures.seek(credential, kept, signed, 200)
      for (const text of [value.slice(0, 20), SECRET.slice(0, 20)])
        expect(await inspect(gate(), Buffer.from(text).toString('base64'))).toMatchObject({
          encoding: 'base64',
        })
      expect(await inspect(gate(), 'nothing')).toEqual({ ok: true })
    }
  expect(asked).toEqual([
    [SECRET],
    [values[0]],
    [values[1]],
    [SECRET, 'the bytes of the key'],
    [values[0]],
    [values[1]],
  ])
})

it('names what it looks for beside the secret, so that a stream holds back what may be its beginning', () => {
  const signatures = createSignatures({ createLeakGate, now: Date.now })
  const texts = (found: OpenedCredential) => found.sought.map((secret) => secret.use((text) => text))
  const seek = (more: object) => texts(signatures.seek(credential, opened, { ...signature, ...more }, 200))
  expect(seek({})).toEqual([SECRET, signature.value])
  const derived = { day: '20261130', keys: () => [new Secret('a key of the day')] }
  expect(seek({ opensOthers: false, derived })).toEqual([SECRET, 'a key of the day'])
  expect(seek({ opensOthers: false })).toEqual([SECRET])
})
