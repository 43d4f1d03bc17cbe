import { describe, expect, it } from 'vitest'
import { createLifetime } from '../../../src/app/lifetime.ts'

describe('a lifetime', () => {
  it('closes what was opened last first, each once', async () => {
    const closed: string[] = []
    const lifetime = createLifetime()
    lifetime.onClose(() => void closed.push('store'))
    lifetime.onClose(async () => {
      await Promise.resolve()
      closed.push('sender')
    })
    await Promise.all([lifetime.close(), lifetime.close()])
    expect(closed).toEqual(['sender', 'store'])
  })

  it('closes the rest when one cannot be closed, and says so afterwards', async () => {
    const closed: string[] = []
    const lifetime = createLifetime()
    lifetime.onClose(() => void closed.push('store'))
    lifetime.onClose(() => Promise.reject(new Error('still busy')))
    await expect(lifetime.close()).rejects.toThrow('still busy')
    expect(closed).toEqual(['store'])
  })
})
