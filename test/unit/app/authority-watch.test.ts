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
    const state = async () => {
      await watch.look()
      return watch.state()
    }
    return {
      state,
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
    const { state, open, fail, wait, wraps } = watched()
    fail(unreachable)
    await open()
    expect([await state(), wraps()]).toEqual(['failing', 0])
    wait(5000)
    expect([await state(), wraps()]).toEqual(['failing', 1])
    expect([await state(), wraps()]).toEqual(['failing', 1])
    fail(undefined)
    wait(5000)
    expect([await state(), wraps()]).toEqual(['working', 2])
  })

  it('hears of a failure that is wrapped in words for the caller', async () => {
    const { state, open, fail } = watched()
    fail(notStored(unreachable))
    await open()
    expect(await state()).toBe('failing')
  })

  it('asks nothing of a service that works, and is not moved by a record that does not open', async () => {
    const { state, open, fail, wraps } = watched()
    fail(new KeyServiceError('refused', 'vault', 'the record names another key'))
    await open()
    expect([await state(), wraps()]).toEqual(['working', 0])
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
    const { state, open, seal, fail, lines } = watched()
    const gone = new KeyServiceError('key_missing', 'vault', 'status 404')
    fail(gone)
    for (let i = 0; i < 5; i++) await open('of-before')
    expect(await state()).toBe('working')
    expect(lines).toEqual([['error', gone.message]])
    await open('k')
    expect(await state()).toBe('failing')
    fail(undefined)
    await open('k')
    fail(notStored(gone))
    await seal()
    expect(await state()).toBe('failing')
  })

  it('is not content with a service that seals what it does not open again', async () => {
    const { state, open, fail, wait, authority } = watched()
    fail(unreachable)
    await open()
    fail(undefined)
    authority.unwrap = () => Promise.reject(new KeyServiceError('denied', 'vault', 'status 403'))
    wait(5000)
    expect(await state()).toBe('failing')
  })
})

describe('the watch over a key file', () => {
  function watched() {
    let now = 0
    let fault: KeyFileFault | undefined
    let looks = 0
    let held: Promise<void> | undefined
    const lines: string[] = []
    const log = { error: (_: unknown, text: string) => lines.push(text), info() {} } as unknown as Logger
    const check = async () => {
      looks++
      await held
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
    const state = async () => {
      await watch.look()
      return watch.state()
    }
    return {
      state,
      open,
      lines,
      looks: () => looks,
      seen: () => watch.state(),
      hang() {
        const { promise, resolve } = Promise.withResolvers<void>()
        held = promise
        return resolve
      },
      wait: (ms: number) => void (now += ms),
      fail: (thrown?: KeyFileFault) => void (fault = thrown),
    }
  }
  const replaced = new KeyFileFault('authority_key', 'authority.jwk was replaced')

  it('looks by itself every five seconds, and is well only once the file is', async () => {
    const { state, open, lines, looks, wait, fail } = watched()
    expect(await state()).toBe('working')
    fail(replaced)
    wait(4999)
    expect([await state(), looks()]).toEqual(['working', 1])
    wait(1)
    expect([await state(), looks()]).toEqual(['file_unusable', 2])
    // What opens does so with keys in memory.
    await open()
    expect(await state()).toBe('file_unusable')
    wait(5000)
    expect(await state()).toBe('file_unusable')
    expect(lines).toEqual([replaced.message])
    fail()
    wait(5000)
    expect(await state()).toBe('working')
  })

  it('keeps what it saw last while a look is not finished', async () => {
    const { state, seen, wait, fail, hang } = watched()
    fail(replaced)
    expect(await state()).toBe('file_unusable')
    wait(5000)
    const finish = hang()
    fail()
    const looking = state()
    expect(seen()).toBe('file_unusable')
    finish()
    expect(await looking).toBe('working')
  })

  it('fails where the records are under a key that is not here', async () => {
    const { state, open, fail } = watched()
    fail(new KeyFileFault('authority_key', 'a rotation on another replica', { lacksKey: true }))
    expect(await state()).toBe('failing')
    await open()
    expect(await state()).toBe('failing')
  })

  it('looks at once where a record is under a key that is not there, and names that once', async () => {
    const { state, open, lines, looks } = watched()
    await state()
    for (let i = 0; i < 5; i++) await open('of-another-replica')
    expect([await state(), looks()]).toEqual(['working', 2])
    expect(lines).toEqual(['of-another-replica is not in the file'])
  })
})
