import { describe, expect, it } from 'vitest'
import { sendsNoMail } from '../../../src/email/spf.ts'

describe('a domain that sends no mail', () => {
  it.each([
    ['v=spf1 -all'],
    ['V=SPF1 -ALL'],
    ['v=spf1  -all '],
    ['v=spf1 -all exp=why.example.com'],
    ['v=spf1 -all ip4:192.0.2.1'],
  ])('says %j', (record) => {
    expect(sendsNoMail(['google-site-verification=x', record])).toBe(true)
  })

  it.each<[readonly string[]]>([
    [[]],
    [['v=spf1']],
    [['v=spf1 ~all']],
    [['v=spf1 ?all']],
    [['v=spf1 +all']],
    [['v=spf1 a -all']],
    [['v=spf1 ip4:192.0.2.0/24 -all']],
    [['v=spf1 include:_spf.example.com -all']],
    [['v=spf1 redirect=_spf.example.com']],
    [['v=spf10 -all']],
    [['spf2.0/pra -all']],
    // Two policies are an error, so neither counts.
    [['v=spf1 -all', 'v=spf1 a -all']],
    [['v=spf1 -all', 'v=spf1 -all']],
  ])('does not say %j', (records) => {
    expect(sendsNoMail(records)).toBe(false)
  })
})
