import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLeakGates } from '../../../../src/egress/leak/inspection.ts'
import { createScanner, type Scanner } from '../../../../src/egress/relay/scanner.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { encodingsOf } from '../../../support/encodings.ts'
import { countTurns } from '../../../support/turns.ts'

const SECRET = 'k7Qx4LmR9v+Tz2/KpW8nYcEu5Jb"7&Qd'
const BEFORE = 'The answer says: "'
const AFTER = '", and then it goes on.'

const createGate = createLeakGates({ search: async () => ({ ok: false, reason: 'failed' }) })

const secrets = [new Secret(SECRET)]
const sought = [secrets]
const gate = createGate(secrets, { accountId: 'acc', scheme: '' })
const createSearch = (): Scanner => createScanner({ gate, sought: () => sought }, '')
/** Of what got out behind the text before the secret; every other byte of UTF-16 says nothing. */
const leaked = (released: Buffer) => released.subarray(BEFORE.length).filter((byte) => byte !== 0).length

/** @returns what got out, and whether the scanner stopped the rest */
async function passThrough(scanner: Scanner, pieces: readonly Buffer[]) {
  let released = Buffer.alloc(0)
  for (const piece of pieces) {
    const scanned = await scanner.push(piece, false)
    if (!scanned.ok) return { released, stopped: scanned.reason }
    released = Buffer.concat([released, scanned.released])
  }
  const end = await scanner.end()
  return { released: end.ok ? Buffer.concat([released, end.released]) : released, stopped: undefined }
}

describe('an answer that is searched while it passes', () => {
  it('is let go as it came, and stays so while more of it is searched', async () => {
    const whole = randomBytes(100_000)
    // One window in a thousand begins as something packed does, and is searched by a thread.
    const gates = createLeakGates({ search: async () => ({ ok: true }) })
    const scanner = createScanner(
      { gate: gates(secrets, { accountId: 'acc', scheme: '' }), sought: () => sought },
      '',
    )
    const released: Buffer[] = []
    for (let at = 0; at < whole.length;) {
      const piece = whole.subarray(at, (at += 1 + ((at * 7919) % 9000)))
      const scanned = await scanner.push(piece, false)
      expect(scanned.ok).toBe(true)
      if (scanned.ok) released.push(scanned.released)
    }
    const end = await scanner.end()
    expect(end.ok && Buffer.concat([...released, end.released]).equals(whole)).toBe(true)
  })

  it.each([...encodingsOf(SECRET)])(
    'stops at a secret that lies across the border of two pieces, wherever that is: %s',
    async (_encoding, encoded) => {
      const whole = Buffer.concat([Buffer.from(BEFORE), encoded, Buffer.from(AFTER)])
      const out: number[] = []
      for (let at = BEFORE.length; at <= BEFORE.length + encoded.length; at++) {
        const { released, stopped } = await passThrough(createSearch(), [
          whole.subarray(0, at),
          whole.subarray(at),
        ])
        expect([at, stopped]).toEqual([at, 'reflected'])
        out.push(leaked(released))
      }
      expect(Math.max(...out)).toBe(0)
    },
  )

  it.each(['paßwort-käse-bröt-mü-Ü7', '비밀번호-열쇠-Zk9W'])(
    'stops at %s in letters and marks, wherever it is cut',
    async (secret) => {
      const own = [new Secret(secret)]
      const search = { gate: createGate(own, { accountId: 'acc', scheme: '' }), sought: () => [own] }
      for (const text of [secret.normalize('NFD'), encodeURIComponent(secret.normalize('NFD'))]) {
        const whole = Buffer.from(BEFORE + text + AFTER)
        for (let at = BEFORE.length; at <= BEFORE.length + Buffer.byteLength(text); at++) {
          const { released, stopped } = await passThrough(createScanner(search, ''), [
            whole.subarray(0, at),
            whole.subarray(at),
          ])
          expect([at, stopped, leaked(released)]).toEqual([at, 'reflected', 0])
        }
      }
    },
  )

  it.each([
    ['a password', 'paßwort-käse-bröt-mü-Ü7'],
    // Escaped it is longer than what is always remembered of an answer.
    ['a long one', '비밀번호열쇠'.repeat(12)],
  ])('stops at %s of a Basic credential in base64, in letters and marks', async (_, password) => {
    const own = [new Secret(Buffer.from(`user:${password}`).toString('base64'))]
    const search = { gate: createGate(own, { accountId: 'acc', scheme: 'Basic' }), sought: () => [own] }
    const text = password.normalize('NFD')
    for (const form of [text, encodeURIComponent(text)]) {
      const whole = Buffer.from(BEFORE + form + AFTER)
      const step = Math.ceil(form.length / 60)
      for (let at = BEFORE.length; at <= BEFORE.length + Buffer.byteLength(form); at += step) {
        const { released, stopped } = await passThrough(createScanner(search, 'Basic'), [
          whole.subarray(0, at),
          whole.subarray(at),
        ])
        expect([at, stopped, leaked(released)]).toEqual([at, 'reflected', 0])
      }
    }
  })

  it.each([...encodingsOf(SECRET)])(
    'stops at a secret that drips in byte by byte: %s',
    async (_encoding, encoded) => {
      const whole = Buffer.concat([Buffer.from(BEFORE), encoded, Buffer.from(AFTER)])
      const { released, stopped } = await passThrough(
        createSearch(),
        Array.from(whole, (byte) => Buffer.of(byte)),
      )
      expect(stopped).toBe('reflected')
      expect(leaked(released)).toBe(0)
    },
  )

  it('passes everything else on, whatever its pieces', async () => {
    const text = Buffer.from(
      'Nothing of it is in here, but %20 escapes, "quotes" and \\u0041 are.\n'.repeat(300),
    )
    for (const size of [70, 1000, 16 * 1024, 100_000]) {
      const count = Math.ceil(text.length / size)
      const pieces = Array.from({ length: count }, (_, i) => text.subarray(i * size, (i + 1) * size))
      const { released, stopped } = await passThrough(createSearch(), pieces)
      expect(stopped).toBeUndefined()
      expect(released.equals(text)).toBe(true)
    }
  })

  it('holds back little of an ordinary text, and nothing of a whole line', async () => {
    const scanner = createSearch()
    const word = await scanner.push(Buffer.from('and so it goes on'), false)
    expect(word.ok && word.released.length).toBeGreaterThanOrEqual('and so it goes on'.length - 4)
    const line = await scanner.push(Buffer.from(' to the end of {"a":"line"}\n'), false)
    expect(line.ok && line.released.toString().endsWith('{"a":"line"}\n')).toBe(true)
  })

  it('counts parts together that are too short by themselves: in its head, and far from one another', async () => {
    const [first = '', second = '', third = ''] = SECRET.match(/.{1,11}/g) ?? []
    const far = Buffer.alloc(3000, 'all is well\n')
    const apart = await passThrough(createSearch(), [
      Buffer.from(first),
      far,
      Buffer.from(second),
      far,
      Buffer.from(third),
    ])
    expect(apart.stopped).toBe('reflected')
    expect(String(apart.released)).not.toContain(second)

    const begun = createSearch()
    const head = await begun.head({ statusText: '', headers: [{ name: 'x-key', value: first }] })
    expect(head).toEqual({ ok: true })
    expect((await passThrough(begun, [Buffer.from(second)])).stopped).toBe('reflected')

    // Where answers are searched as wholes, what is as far apart is in two answers.
    const longAgo = Array.from({ length: 400 }, () => far)
    const parts = await passThrough(createSearch(), [
      Buffer.from(`${first}\n`),
      ...longAgo,
      Buffer.from(`${second}\n`),
    ])
    expect(parts.stopped).toBeUndefined()
  })

  it('looks at windows of a long piece together with what went before them', async () => {
    const filler = Buffer.alloc(16 * 1024 - 10, 'x y ')
    const whole = Buffer.concat([filler, Buffer.from(SECRET), filler])
    const { released, stopped } = await passThrough(createSearch(), [whole])
    expect([stopped, released.length]).toEqual(['reflected', 0])
  })

  it('of bytes that are no text sends hardly any to a thread, which makes the search anew', async () => {
    const digest = (text: string) => createHash('sha256').update(text).digest()
    // As an S3 credential has them: keys for signing, which are bytes.
    const keys = ['a', 'b', 'c', 'd'].map((name) => new Secret(digest(name).toString('latin1')))
    const sent: number[] = []
    const gates = createLeakGates({
      async search(_account, _sought, { body }) {
        sent.push(body.length)
        return { ok: true }
      },
    })
    const own = [...secrets, ...keys]
    const scanner = createScanner(
      { gate: gates(own, { accountId: 'acc', scheme: '' }), sought: () => [own] },
      '',
    )
    const noText = Buffer.concat(Array.from({ length: 32 * 1024 }, (_, n) => digest(`${n}`)))
    for (let at = 0; at < noText.length; at += 64 * 1024)
      expect(await scanner.push(noText.subarray(at, at + 64 * 1024), false)).toMatchObject({ ok: true })
    expect(sent.length).toBeLessThanOrEqual(4)
  })

  it('holds back the beginning of what it learned of while it passed', async () => {
    const longer = [new Secret(createHash('sha512').update('another').digest('base64url'))]
    const text = longer[0]?.use((value) => value) ?? ''
    let known = [secrets]
    const gates = new Map(
      [secrets, longer].map((each) => [each, createGate(each, { accountId: 'acc', scheme: '' })]),
    )
    const scanner = createScanner(
      {
        sought: () => known,
        gate: {
          async inspect(response, seen) {
            for (const each of known) {
              const verdict = await gates.get(each)!.inspect(response, seen)
              if (!verdict.ok) return verdict
            }
            return { ok: true }
          },
        },
      },
      '',
    )
    const begun = Buffer.from(`it goes on\n${text.slice(0, 9)}`)
    const before = await scanner.push(begun, false)
    expect(before.ok && String(before.released)).toContain(text.slice(0, 6))
    known = [secrets, longer]
    const after = await scanner.push(begun, false)
    expect(after.ok && String(after.released)).toContain('it goes on\n')
    expect(after.ok && String(after.released).split('on\n')[1]).toBe('')
    expect((await scanner.push(Buffer.from(text.slice(9)), false)).ok).toBe(false)
  })

  it('searches what it still holds once more at the end: another secret may be sought by then', async () => {
    let verdict: Awaited<ReturnType<typeof gate.inspect>> = { ok: true }
    const scanner = createScanner({ gate: { inspect: async () => verdict }, sought: () => sought }, '')
    expect(await scanner.push(Buffer.from(`the key: ${SECRET.slice(0, 6)}`), false)).toMatchObject({
      ok: true,
    })
    verdict = { ok: false, reason: 'reflected', where: 'body', encoding: 'plain' }
    expect(await scanner.end()).toEqual(verdict)
  })

  it('lets others have their turn while it makes what it holds back by of a long secret', async () => {
    // In hexadecimal: a `y` in front of what is shown, or a sign at its beginning, would be held back or let go with it.
    const long = [new Secret(randomBytes(4_000).toString('hex'))]
    const all = [long]
    const scanner = createScanner({ gate: { inspect: async () => ({ ok: true }) }, sought: () => all }, '')
    const others = countTurns()
    const beginning = Buffer.from(long[0]?.use((text) => text.slice(100, 110)) ?? '')
    const scanned = await scanner.push(Buffer.concat([Buffer.from('the key: '), beginning]), false)
    others.end()
    expect(scanned.ok && scanned.released.toString()).toBe('the key: ')
    expect(others.now()).toBeGreaterThan(5)
  })
})
