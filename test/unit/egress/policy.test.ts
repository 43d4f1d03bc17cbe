import { describe, expect, it } from 'vitest'
import { checkPolicy, createPolicyReader, egressPolicyDocument } from '../../../src/egress/policy.ts'
import type { DocumentStore } from '../../../src/store/ports.ts'

describe('checkPolicy', () => {
  it.each([
    ['example.com', false],
    ['api.example.com', false],
    ['example.com.evil.net', true],
    ['notexample.com', true],
    ['com', true],
  ])('of a denied example.com, asked for %s: allowed is %s', (host, ok) => {
    expect(checkPolicy({ denied_hosts: ['example.com'], paused: false }, host).ok).toBe(ok)
  })

  it('denies a host that is any of several, and says why', () => {
    const policy = { denied_hosts: ['example.com', 'example.net'], paused: false }
    expect(checkPolicy(policy, 'api.example.com')).toEqual({ ok: false, reason: 'denied_host' })
    expect(checkPolicy(policy, 'example.net')).toEqual({ ok: false, reason: 'denied_host' })
    expect(checkPolicy(policy, 'example.org')).toEqual({ ok: true })
  })

  it('refuses everything while paused', () => {
    const verdict = checkPolicy({ denied_hosts: [], paused: true }, 'api.example.com')
    expect(verdict).toEqual({ ok: false, reason: 'paused' })
  })
})

describe('the policy document', () => {
  it('may be empty, and refuses words it does not know', () => {
    expect(egressPolicyDocument.parse({})).toEqual({ denied_hosts: [], paused: false })
    expect(egressPolicyDocument.parse({ denied_hosts: ['Example.COM'] }).denied_hosts).toEqual([
      'example.com',
    ])
    expect(() => egressPolicyDocument.parse({ pause: true })).toThrow()
  })

  it('denies nobody before an operator wrote one', () => {
    expect(egressPolicyDocument).toMatchObject({
      name: 'egress-policy',
      initial: { denied_hosts: [], paused: false },
    })
  })

  it('has each problem reported once, and again when another came between', async () => {
    let now = 1000
    let problem: string | undefined
    const problems: string[] = []
    const documents = {
      read: async () => ({ value: egressPolicyDocument.initial, problem }),
    } as unknown as DocumentStore
    const read = createPolicyReader(
      documents,
      (reported) => problems.push(reported),
      () => now,
    )
    for (problem of [undefined, 'a', 'a', undefined, 'b', 'a', 'a']) {
      await read()
      now += 250
    }
    expect(problems).toEqual(['a', 'b', 'a'])
  })

  it('is not forgotten when an older reading fails', async () => {
    let now = 1000
    const fails: ((thrown: Error) => void)[] = []
    let reads = 0
    const documents = {
      read: () =>
        ++reads === 1
          ? new Promise((_resolve, reject) => fails.push(reject))
          : Promise.resolve({ value: egressPolicyDocument.initial, problem: undefined }),
    } as unknown as DocumentStore
    const read = createPolicyReader(
      documents,
      () => {},
      () => now,
    )
    const first = read()
    now += 250
    expect(await read()).toEqual({ denied_hosts: [], paused: false })
    fails[0]?.(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await read()
    expect(reads).toBe(2)
  })

  it('is read again after a quarter of a second, once for many attempts, and after a failure at once', async () => {
    let now = 1000
    let reads = 0
    let failing = false
    const problems: string[] = []
    const documents = {
      async read() {
        reads++
        if (failing) throw new Error('away')
        return { value: egressPolicyDocument.initial, problem: 'bad edit' }
      },
    } as unknown as DocumentStore
    const read = createPolicyReader(
      documents,
      (problem) => problems.push(problem),
      () => now,
    )
    await Promise.all([read(), read(), read()])
    expect(reads).toBe(1)
    now += 249
    await read()
    expect(reads).toBe(1)
    now += 1
    await read()
    expect([reads, problems]).toEqual([2, ['bad edit']])
    now += 250
    failing = true
    await expect(read()).rejects.toThrow('away')
    failing = false
    await read()
    expect(reads).toBe(4)
  })
})
