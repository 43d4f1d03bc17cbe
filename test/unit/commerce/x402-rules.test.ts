import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../../src/commerce/compare.ts'
import {
  compareResourceTexts,
  findDifference,
  findDomainDifference,
  judgeX402,
  X402_RULES,
  type X402Paid,
  type X402Rule,
  type X402Terms,
} from '../../../src/commerce/x402/bind-rules.ts'
import { findWindowProblems, type Window } from '../../../src/commerce/window.ts'

const SELLER = '0x52908400098527886E0F7030069857D2E4169EE7'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const SVM = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

const asked: X402Terms = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset: USDC,
  payTo: SELLER,
  maxTimeoutSeconds: 300,
}
const paid: X402Paid = {
  scheme: 'exact',
  network: 'eip155:84532',
  accepted: asked,
  transfer: { to: SELLER.toLowerCase(), amount: 1000n, asset: USDC.toLowerCase() },
}
const transfer = (change: Partial<NonNullable<X402Paid['transfer']>>): Partial<X402Paid> => ({
  transfer: { ...paid.transfer!, ...change },
})

describe('the rules of x402', () => {
  it('agree about a payment that fits, whatever they are asked by', () => {
    const verdicts = judgeX402(paid, asked)
    expect(Object.keys(verdicts)).toEqual(Object.keys(X402_RULES))
    expect(new Set(Object.values(verdicts))).toEqual(new Set(['match']))
  })

  it.each<[string, X402Rule, Verdict, Partial<X402Paid>, Partial<X402Terms>]>([
    ['another scheme', 'scheme', 'mismatch', { scheme: 'upto' }, {}],
    ['a scheme in another case', 'scheme', 'mismatch', { scheme: 'EXACT' }, {}],
    ['no scheme', 'scheme', 'unverifiable', { scheme: null }, {}],
    ['another network', 'network', 'mismatch', { network: 'eip155:8453' }, {}],
    ['a requirement without a network', 'network', 'unverifiable', {}, { network: null }],
    ['another token', 'asset', 'mismatch', transfer({ asset: SELLER }), {}],
    ['no token of its own', 'asset', 'unverifiable', transfer({ asset: null }), {}],
    ['another payee', 'pay_to', 'mismatch', transfer({ to: USDC }), {}],
    ['an opaque transfer', 'pay_to', 'unverifiable', { transfer: null }, {}],
    ['a payee in another case, where case counts', 'pay_to', 'mismatch', { network: SVM }, {}],
    ['less', 'amount', 'mismatch', transfer({ amount: 999n }), {}],
    ['more', 'amount', 'mismatch', transfer({ amount: 1001n }), {}],
    ['more than up to so much', 'amount', 'match', transfer({ amount: 1001n }), { scheme: 'upto' }],
    ['more, where nobody says how', 'amount', 'partial', transfer({ amount: 1001n }), { scheme: 'escrow' }],
    ['no amount', 'amount', 'unverifiable', transfer({ amount: null }), {}],
    ['another choice', 'accepted', 'mismatch', {}, { maxTimeoutSeconds: 301 }],
    ['v1, which repeats nothing', 'accepted', 'unverifiable', { accepted: null }, {}],
  ])('say of %s: %s %s', (_what, rule, verdict, change, terms) => {
    expect(X402_RULES[rule]({ ...paid, ...change }, { ...asked, ...terms })).toBe(verdict)
    expect(judgeX402({ ...paid, ...change }, { ...asked, ...terms })[rule]).toBe(verdict)
  })

  it.each<[string, X402Terms, ReturnType<typeof findDifference>]>([
    ['nothing', {}, undefined],
    ['the payee in another case', { payTo: SELLER.toLowerCase() }, undefined],
    ['the scheme', { scheme: 'upto' }, 'scheme'],
    ['the network', { network: 'eip155:8453' }, 'network'],
    ['the amount as another text', { amount: '01000' }, 'amount'],
    ['the asset', { asset: SELLER }, 'asset'],
    ['the payee', { payTo: USDC }, 'payTo'],
    ['the timeout', { maxTimeoutSeconds: 60 }, 'maxTimeoutSeconds'],
    ['what is left out', { maxTimeoutSeconds: null, amount: undefined }, undefined],
    ['the first of several', { payTo: USDC, amount: '1' }, 'amount'],
  ])('find in what was accepted, where it differs in %s: %j', (_what, change, expected) => {
    expect(findDifference({ ...asked, ...change }, asked)).toBe(expected)
  })

  it.each<[Record<string, unknown> | undefined, boolean, ReturnType<typeof findDomainDifference>]>([
    [{ name: 'USDC', version: '2' }, true, undefined],
    [{ name: 'USD Coin', version: '2' }, true, 'name'],
    [{ name: 'USDC', version: 2 }, true, 'version'],
    [{ name: 'USD Coin' }, true, 'missing'],
    [undefined, true, 'missing'],
    [undefined, false, undefined],
    [{ name: '' }, false, 'name'],
    [{ version: '1' }, false, 'version'],
  ])('hold the domain %j against that of the token (needed: %j): %j', (extra, isRequired, expected) => {
    expect(findDomainDifference(extra, { name: 'USDC', version: '2' }, isRequired)).toBe(expected)
  })

  it.each<[string, Window, string[]]>([
    ['that fits to the second', { notBefore: 100, expiresAt: 106 }, []],
    ['that ends a second too soon', { notBefore: 100, expiresAt: 105 }, ['ends_too_soon']],
    ['that ends at the last second', { notBefore: 0, expiresAt: 430n }, []],
    ['that ends a second too late', { notBefore: 0n, expiresAt: 431n }, ['ends_too_late']],
    ['that begins a second too late', { notBefore: 101, expiresAt: 200 }, ['starts_too_late']],
    ['that ends when it begins', { notBefore: 50, expiresAt: 50 }, ['ends_too_soon', 'is_never_open']],
    ['without bounds', { notBefore: null, expiresAt: null }, []],
    [
      'that begins after its end',
      { notBefore: 500, expiresAt: 431 },
      ['ends_too_late', 'starts_too_late', 'is_never_open'],
    ],
  ])('say of a window %s (%#)', (_what, window, expected) => {
    const bounds = { latestStart: 100, earliestEnd: 106, latestEnd: 430 }
    expect(findWindowProblems(window, bounds)).toEqual(expected)
    const wide = { latestStart: 100n, earliestEnd: 106n, latestEnd: 430n }
    expect(findWindowProblems(window, wide)).toEqual(expected)
  })

  it.each<[string, string, Verdict]>([
    ['https://a.example', 'https://a.example/#top', 'match'],
    ['https://a.example/x?b=1', 'https://a.example/x?b=2', 'partial'],
    ['https://a.example/x', 'https://b.example/x', 'mismatch'],
    ['not a url', 'not a url', 'match'],
    ['not a url', 'https://a.example/', 'unverifiable'],
  ])('hold the resource %j against %j: %s', (one, other, verdict) => {
    expect(compareResourceTexts(one, other)).toBe(verdict)
  })
})
