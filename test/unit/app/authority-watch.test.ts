import { describe, expect, it } from 'vitest'
import { watchAuthority } from '../../../src/app/authority-watch.ts'
import { KeyFileFault } from '../../../src/egress/authority/key-file-fault.ts'
import { KeyServiceError } from '../../../src/egress/authority/key-service.ts'
import { notStored } from '../../../src/egress/authority/service-authority.ts'
import type { Authority } from '../../../src/egress/ports.ts'
import type { Logger } from '../../../src/lib/log.ts'

describe('the watch over a key service', () => {
  const unreachable = new KeyServiceError('unreachable', 'vault', '503')

  function watched() {
    let now = 0
    let failure: Error | undefined
    let wraps = 0
    const answer = async <T>(value: T): Promise<T> => {
      if (failure) throw failure
      return value
    }
    const authority: { -readonly [K in keyof Authority]: Authority[K] } = {
      current: () => ({ kid: 'k' }),
      unwrap: () => answer(Buffer.alloc(32)),
      wrap: () => {
        wraps++
        return answer({ kid: 'k', enc: '', wrapped: '' })
      },
      rewrap: () => answer({ kid: 'k', enc: '', wrapped: '' }),
      rotate: async () => ({ kid: 'k', previous: [] }),
      drop: async () => {},
    }
    const lines: [level: string, text: string][] = []
    const log = {
      error: (_fields: unknown, text: string) => lines.push(['error', text]),
      info: (_fields: unknown, text: string) => lines.push(['info', text]),
    } as unknown as Logger
    const { watch, authority: used } = watchAuthority(authority, { elapsedMs: () => now, log })
    const open = (kid = 'k') => used.unwrap({ kid, enc: '', wrapped: '' }, Buffer.alloc(0)).catch(() => {})
    const seal = () => used.wrap(Buffer.alloc(32), Buffer.alloc(0)).catch(() => {})
    return {
      watch,
      open,
      seal,
      lines,
      authority,
      fail: (thrown: Error | undefined) => void (failure = thrown),
      wait: (ms: number) => void (now += ms),
      wraps: () => wraps,
    }
  }

  it('fails after a use that failed, asks again by itself only after a while, and is well once that works', async () => {
    const { watch, open, fail, wait, wraps } = watched()
    fail(unreachable)
    await open()
    expect([await watch.isWorking(), wraps()]).toEqual([false, 0])
    wait(5000)
    expect([await watch.isWorking(), wraps()]).toEqual([false, 1])
    expect([await watch.isWorking(), wraps()]).toEqual([false, 1])
    fail(undefined)
    wait(5000)
    expect([await watch.isWorking(), wraps()]).toEqual([true, 2])
  })

  it('hears of a failure that is wrapped in words for the caller', async () => {
    const { watch, open, fail } = watched()
    fail(notStored(unreachable))
    await open()
    expect(await watch.isWorking()).toBe(false)
  })

  it('asks nothing of a service that works, and is not moved by a record that does not open', async () => {
    const { watch, open, fail, wraps } = watched()
    fail(new KeyServiceError('refused', 'vault', 'the record names another key'))
    await open()
    expect([await watch.isWorking(), wraps()]).toEqual([true, 0])
  })

  it('tells the log once what is the matter, in the words of the service, and once that it is over', async () => {
    const { open, seal, fail, lines } = watched()
    const denied = new KeyServiceError('denied', 'vault', 'status 403')
    fail(notStored(denied))
    for (let i = 0; i < 20; i++) await seal()
    expect(lines).toEqual([['error', denied.message]])
    fail(unreachable)
    await Promise.all([seal(), seal(), open(), open()])
    expect(lines.slice(1)).toEqual([
      ['error', unreachable.message],
      ['error', unreachable.message],
    ])
    fail(undefined)
    await open()
    await seal()
    expect(lines.slice(3)).toEqual([
      ['info', expect.stringContaining('works again')],
      ['info', expect.stringContaining('works again')],
    ])
  })

  it('does not repeat itself where opening works and sealing does not', async () => {
    const { open, seal, fail, lines } = watched()
    for (let i = 0; i < 5; i++) {
      fail(unreachable)
      await seal()
      fail(undefined)
      await open()
    }
    expect(lines).toEqual([['error', unreachable.message]])
  })

  it('fails with a key that is gone, and not with an old version that takes single records with it', async () => {
    const { watch, open, seal, fail, lines } = watched()
    const gone = new KeyServiceError('key_missing', 'vault', 'status 404')
    fail(gone)
    for (let i = 0; i < 5; i++) await open('of-before')
    expect(await watch.isWorking()).toBe(true)
    expect(lines).toEqual([['error', gone.message]])
    await open('k')
    expect(await watch.isWorking()).toBe(false)
    fail(undefined)
    await open('k')
    fail(notStored(gone))
    await seal()
    expect(await watch.isWorking()).toBe(false)
  })

  it('is not content with a service that seals what it does not open again', async () => {
    const { watch, open, fail, wait, authority } = watched()
    fail(unreachable)
    await open()
    fail(undefined)
    authority.unwrap = () => Promise.reject(new KeyServiceError('denied', 'vault', 'status 403'))
    wait(5000)
    expect(await watch.isWorking()).toBe(false)
  })
})

describe('the watch over a key file', () => {
  function watched() {
    let now = 0
    let fault: KeyFileFault | undefined
    let looks = 0
    const lines: string[] = []
    const log = { error: (_: unknown, text: string) => lines.push(text), info() {} } as unknown as Logger
    const check = async () => {
      looks++
      if (fault) throw fault
    }
    const wrap = { kid: 'k', enc: '', wrapped: '' }
    const file: Authority = {
      current: () => ({ kid: 'k' }),
      check,
      unwrap: async ({ kid }) => {
        if (kid !== 'k') throw new KeyFileFault('authority_key', `${kid} is not in the file`)
        return Buffer.alloc(32)
      },
      wrap: async () => {
        await check()
        return wrap
      },
      rewrap: async () => wrap,
      rotate: async () => ({ kid: 'k', previous: [] }),
      drop: async () => {},
    }
    const { watch, authority } = watchAuthority(file, { elapsedMs: () => now, log })
    const open = (kid = 'k') => authority.unwrap({ ...wrap, kid }, Buffer.alloc(0)).catch(() => {})
    return {
      watch,
      open,
      lines,
      looks: () => looks,
      wait: (ms: number) => void (now += ms),
      fail: (thrown?: KeyFileFault) => void (fault = thrown),
    }
  }
  const replaced = new KeyFileFault('authority_key', 'authority.jwk was replaced')

  it('looks by itself every five seconds, and is well only once the file is', async () => {
    const { watch, open, lines, looks, wait, fail } = watched()
    expect(await watch.isWorking()).toBe(true)
    fail(replaced)
    wait(4999)
    expect([await watch.isWorking(), looks()]).toEqual([true, 1])
    wait(1)
    expect([await watch.isWorking(), looks()]).toEqual([false, 2])
    // What opens does so with keys in memory.
    await open()
    expect(await watch.isWorking()).toBe(false)
    wait(5000)
    expect(await watch.isWorking()).toBe(false)
    expect(lines).toEqual([replaced.message])
    fail()
    wait(5000)
    expect(await watch.isWorking()).toBe(true)
  })

  it('looks at once where a record is under a key that is not there, and names that once', async () => {
    const { watch, open, lines, looks } = watched()
    await watch.isWorking()
    for (let i = 0; i < 5; i++) await open('of-another-replica')
    expect([await watch.isWorking(), looks()]).toEqual([true, 2])
    expect(lines).toEqual(['of-another-replica is not in the file'])
  })
})
