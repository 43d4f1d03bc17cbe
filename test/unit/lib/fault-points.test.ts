import { describe, expect, it } from 'vitest'
import { EGRESS_POINTS, noFault, parseFault } from '../../../src/lib/fault-points.ts'

describe('fault injection', () => {
  it('does nothing unless asked', async () => {
    expect(parseFault(undefined)).toBe(noFault)
    for (const point of EGRESS_POINTS) await expect(noFault.at(point)).resolves.toBeUndefined()
  })

  it.each(EGRESS_POINTS)('throws at %s and nowhere else', async (asked) => {
    const fault = parseFault(`${asked}:throw`)
    for (const point of EGRESS_POINTS) {
      const reached = fault.at(point)
      if (point === asked) await expect(reached).rejects.toThrow(asked)
      else await expect(reached).resolves.toBeUndefined()
    }
  })

  it('waits for the second time when it is asked to', async () => {
    const fault = parseFault('before_reply:throw:2')
    await expect(fault.at('before_reply')).resolves.toBeUndefined()
    await expect(fault.at('after_resolve')).resolves.toBeUndefined()
    await expect(fault.at('before_reply')).rejects.toThrow('before_reply')
    await expect(fault.at('before_reply')).resolves.toBeUndefined()
  })

  it.each([
    '',
    'before_reply',
    'before_reply:',
    'before_reply:explode',
    'nowhere:kill',
    ':kill',
    'before_reply:kill:0',
  ])('refuses "%s" and names the choices', (text) => {
    expect(() => parseFault(text)).toThrow(/before_reply/)
  })
})
