import { describe, expect, it } from 'vitest'
import type { TestReport } from '../../../schemas/commerce.ts'
import { drawBadge, drawChallengeBadge, drawSampleBadge } from '../../../src/commerce/rubric/badge.ts'
import { levelOf } from '../../../src/commerce/rubric/engine.ts'

const draw = (score: number, applicable = true) => drawBadge({ score, level: levelOf(score), applicable })

describe('drawBadge', () => {
  it.each<[number, TestReport['level'], string]>([
    [100, 'ready', '100/100 ready'],
    [90, 'ready', '90/100 ready'],
    [89, 'gaps', '89/100 gaps'],
    [75, 'gaps', '75/100 gaps'],
    [74, 'at_risk', '74/100 at risk'],
    [50, 'at_risk', '50/100 at risk'],
    [49, 'not_ready', '49/100 not ready'],
    [0, 'not_ready', '0/100 not ready'],
  ])('says %i as %s', (score, level, words) => {
    expect(levelOf(score)).toBe(level)
    expect(draw(score)).toContain(`<title>transaction readiness: ${words}</title>`)
  })

  it('has a colour for each level, and none of them for what is no transaction', () => {
    const colours = [95, 80, 60, 10].map((score) => /fill="(#[\da-f]{6})"/.exec(draw(score))![1])
    expect(new Set(colours).size).toBe(4)
    expect(draw(0, false)).toContain('not applicable')
    expect(colours).not.toContain(/fill="(#[\da-f]{6})"/.exec(draw(0, false))![1])
  })

  it('is as wide as its parts and needs nothing from elsewhere', () => {
    const svg = draw(63)
    const [, whole] = /width="(\d+)" height="20" role/.exec(svg)!
    const [, left] = /<rect width="(\d+)" height="20" fill="#333"/.exec(svg)!
    const [, x, right] = /<rect x="(\d+)" width="(\d+)"/.exec(svg)!
    expect(x).toBe(left)
    expect(Number(left) + Number(right)).toBe(Number(whole))
    expect(svg).not.toMatch(/href|script|style|url\((?!#)/)
  })
})

describe('drawChallengeBadge', () => {
  it('has the name of the service and the day of the figures in the picture itself', () => {
    expect(drawChallengeBadge('tea/brew', 97, '2026-11-20T08:00:00.000Z')).toMatch(
      /<text [^>]*>tea\/brew payment challenge<\/text><text [^>]*>97\/100 ready · 2026-11-20<\/text>/,
    )
    expect(drawChallengeBadge('tea/brew', null, null)).toContain('>not tested yet</text>')
  })
})

describe('drawSampleBadge', () => {
  const badge = {
    protocol: 'x402',
    score: 95,
    level: 'ready',
    report_hash: '8db1140d'.repeat(8),
    issuedAt: '2026-11-23T14:35:25.000Z',
    isOutOfDate: false,
    isSandbox: false,
  } as const

  it('says what it is of, and of a sandbox that it is one', () => {
    expect(drawSampleBadge(badge)).toMatch(
      />pasted x402 sample<\/text><text [^>]*>95\/100 ready · 2026-11-23 · 8db1140d<\/text>/,
    )
    expect(drawSampleBadge({ ...badge, isSandbox: true })).toContain('>sandbox: pasted x402 sample</text>')
  })

  it('has neither score nor colour once it is out of date', () => {
    const old = drawSampleBadge({ ...badge, isOutOfDate: true })
    expect(old).toContain('>out of date · 2026-11-23 · 8db1140d</text>')
    expect(old).not.toContain('95/100')
    expect(old).not.toContain('#18794e')
  })
})
