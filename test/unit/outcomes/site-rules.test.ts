// What a site says about automatic readers: the cases of RFC 9309, the reservation protocol, and what follows under each policy.
import { describe, expect, it } from 'vitest'
import { ROBOTS_POLICIES, RobotsReport } from '../../../schemas/sources.ts'
import { refuseUsage, reportUsage } from '../../../src/outcomes/sources/usage.ts'
import { readSiteRules } from '../../../src/outcomes/text/site-rules.ts'

const SITE = 'https://site.example'
const rules = (robotsTxt: string | null, path = '/', tdmRep: unknown = undefined) =>
  readSiteRules({
    robotsTxt,
    tdmRep: tdmRep === undefined ? null : typeof tdmRep === 'string' ? tdmRep : JSON.stringify(tdmRep),
    url: SITE + path,
  })
const mayRead = (robotsTxt: string, path: string) => rules(robotsTxt, path).isAllowed
/** Rules in the group of everybody. */
const all = (...lines: string[]) => ['User-agent: *', ...lines].join('\n')

describe('robots.txt', () => {
  it.each<[string, string, string, boolean]>([
    ['nothing', '', '/x', true],
    ['everybody kept away', all('Disallow: /'), '/x', false],
    ['another robot', 'User-agent: Other\nDisallow: /', '/x', true],
    ['this one', 'user-agent: agentgateway\ndisallow: /', '/x', false],
    ['this one with a version', 'User-agent: AgentGateway/5\nDisallow: /', '/x', false],
    ['a name that this one begins with', 'User-agent: Agent\nDisallow: /', '/x', true],
    [
      'its own group before that of everybody',
      `${all('Disallow: /')}\n\nUser-agent: AgentGateway\nAllow: /`,
      '/x',
      true,
    ],
    ['two names for one group', 'User-agent: Other\nUser-agent: AgentGateway\nDisallow: /', '/x', false],
    [
      'two groups of one name',
      'User-agent: AgentGateway\nDisallow: /a\n\nUser-agent: AgentGateway\nDisallow: /b',
      '/b',
      false,
    ],
    ['the longer rule', all('Disallow: /x/', 'Allow: /x/page'), '/x/page', true],
    ['the longer rule, the other way', all('Allow: /x/', 'Disallow: /x/page'), '/x/page', false],
    ['equal rules', all('Disallow: /x', 'Allow: /x'), '/x', true],
    ['an empty rule', all('Disallow:'), '/x', true],
    ['a beginning', all('Disallow: /fish'), '/fish.html', false],
    ['another case', all('Disallow: /Fish'), '/fish', true],
    ['a folder', all('Disallow: /fish/'), '/fish', true],
    ['a wildcard', all('Disallow: /*.php'), '/a/b.php?x', false],
    ['the end', all('Disallow: /*.php$'), '/a.php?x', true],
    ['the end, met', all('Disallow: /*.php$'), '/a.php', false],
    ['a query', all('Disallow: /*?print'), '/a?print=1', false],
    ['an escape', all('Disallow: /caf%C3%A9'), '/caf%C3%A9', false],
    ['a comment', all('# Disallow: /', 'Disallow: /a # Disallow: /'), '/b', true],
    ['a byte order mark', `\ufeff${all('Disallow: /')}`, '/x', false],
    ['line ends of a Mac', all('Disallow: /').replaceAll('\n', '\r'), '/x', false],
    ['a rule without a group', 'Disallow: /', '/x', true],
    [
      'other lines between',
      all('Crawl-delay: 5', 'Sitemap: https://site.example/map', 'Disallow: /'),
      '/x',
      false,
    ],
    ['a page of HTML', '<html><body>Disallow: /</body></html>', '/x', true],
  ])('%s', (_, text, path, expected) => expect(mayRead(text, path)).toBe(expected))

  it('tells the line that decided, and whether it names this gateway', () => {
    expect(rules(all('Allow: /a', 'Disallow: /'), '/b')).toMatchObject({ line: 3, isNamed: false })
    expect(rules('\n\nUser-agent: AgentGateway # us\nDisallow: /x', '/x')).toMatchObject({
      line: 4,
      isNamed: true,
    })
    expect(rules(null, '/x')).toMatchObject({ isAllowed: true, line: null, isNamed: false })
  })

  it('knows its name behind a byte order mark, beside a version and among other names', () => {
    for (const [text, line] of [
      ['\ufeffUser-agent: AgentGateway\nDisallow: /x', 2],
      ['User-agent: AgentGateway/5\nDisallow: /x', 2],
      ['User-agent: Other\nUser-agent: agentgateway\nUser-agent: *\n\nDisallow: /x', 5],
    ] as const)
      expect(rules(text, '/x')).toMatchObject({ isNamed: true, isAllowed: false, line })
    expect(rules('User-agent: Other\nDisallow: /\nUser-agent: *\nAllow: /', '/x')).toMatchObject({
      isNamed: false,
      isAllowed: true,
    })
  })

  it('reads patterns up to their first wildcard once they cost too much', () => {
    const dear = `Allow: /y*${'a'.repeat(1900)}\n`.repeat(250)
    const last = `Disallow: /z*${'b'.repeat(1900)}`
    expect(mayRead(all(last), `/z${'a'.repeat(1900)}`)).toBe(true)
    expect(mayRead(all(`${dear}${last}`), `/z${'a'.repeat(1900)}`)).toBe(false)
  })

  it('tells the signals of the group that is for this gateway', () => {
    expect(rules(all('Content-Signal: search=yes, ai-train=no')).signals).toEqual({
      search: true,
      'ai-train': false,
    })
    const own = `${all('Content-Signal: ai-input=no')}\n\nUser-agent: AgentGateway\nContent-signal: ai-input = yes`
    expect(rules(own).signals).toEqual({ 'ai-input': true })
    expect(rules('User-agent: Other\nContent-Signal: ai-input=no').signals).toEqual({})
    expect(rules(all('Content-Signal: /private ai-input=no')).signals).toEqual({})
  })

  it.each([
    ['wildcards', all(`Disallow: /${'*a'.repeat(1000)}$`)],
    ['many rules of wildcards', `User-agent: *\n${`Disallow: /${'*a'.repeat(100)}$\n`.repeat(2400)}`],
    ['one line', `User-agent: *\nDisallow: /${'a'.repeat(490_000)}`],
    ['blank lines', '\n'.repeat(490_000)],
    ['names', 'User-agent: a\n'.repeat(35_000)],
    // Their product would be more than any process holds.
    [
      'one name again and again before many rules',
      `${'User-agent: *\n'.repeat(18_000)}${'Allow: /\n'.repeat(28_000)}`,
    ],
    [
      'many names before many rules',
      `${Array.from({ length: 15_000 }, (_, at) => `User-agent: bot-${at}\n`).join('')}${'Allow: /\n'.repeat(28_000)}`,
    ],
    ['signals', all(`Content-Signal: ${'ai-input '.repeat(50_000)}`)],
  ])('made of %s is read', (_, text) => {
    expect(rules(text, `/${'a'.repeat(8000)}`)).toHaveProperty('isAllowed')
  })
})

describe('tdmrep.json', () => {
  it.each<[string, unknown, string, boolean | null]>([
    ['nothing for this path', [{ location: '/a', 'tdm-reservation': 1 }], '/b', null],
    ['all of the site', [{ location: '/', 'tdm-reservation': 1 }], '/b', true],
    [
      'the first of two',
      [
        { location: '/open/*', 'tdm-reservation': 0 },
        { location: '/', 'tdm-reservation': 1 },
      ],
      '/open/x',
      false,
    ],
    ['a pattern with an end', [{ location: '/*.html$', 'tdm-reservation': 1 }], '/a.html?x', null],
    ['text for a number', [{ location: '/', 'tdm-reservation': '1' }], '/x', true],
    ['no list', { location: '/', 'tdm-reservation': 1 }, '/x', null],
    ['no JSON', '<html>', '/x', null],
    ['odd entries', [null, 1, {}, { location: 5 }], '/x', null],
    ['a line in a pattern', [{ location: '/a\nDisallow: /', 'tdm-reservation': 1 }], '/b', null],
  ])('%s', (_, file, path, expected) => expect(rules(null, path, file).tdmReserved).toBe(expected))

  it('names the terms of the owner', () => {
    const file = [{ location: '/', 'tdm-reservation': 1, 'tdm-policy': 'https://site.example/terms' }]
    expect(rules(null, '/', file).tdmPolicy).toBe('https://site.example/terms')
  })
})

describe('a source whose site or page objects', () => {
  const open = rules(null)
  const closed = rules(all('Disallow: /'))
  const named = rules('User-agent: AgentGateway\nDisallow: /')
  const header = (...robots: string[]) => ({ robots, tdmReservation: null, tdmPolicy: null })
  const meta = (robots: string) => ({ robots, tdmReservation: null, tdmPolicy: null })

  it.each<
    [
      string,
      Parameters<typeof reportUsage>[1],
      Parameters<typeof reportUsage>[2],
      Parameters<typeof reportUsage>[3],
      (string | undefined)[],
    ]
  >([
    // Reasons under: report, obey_ai, obey
    ['says nothing', open, undefined, undefined, [undefined, undefined, undefined]],
    ['keeps everybody away', closed, undefined, undefined, [undefined, undefined, 'robots_disallowed']],
    [
      'keeps this gateway away',
      named,
      undefined,
      undefined,
      [undefined, 'robots_disallowed', 'robots_disallowed'],
    ],
    ['could not be asked', null, undefined, undefined, [undefined, undefined, 'robots_disallowed']],
    [
      'says noai in a header',
      open,
      header('noindex, NoAI'),
      undefined,
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    ['says noai to another', open, header('otherbot: noai'), undefined, [undefined, undefined, undefined]],
    [
      'says noai to this one',
      open,
      header('agentgateway: noai'),
      undefined,
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'says noai in the page',
      open,
      undefined,
      meta('noai, noimageai'),
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'is not for an index',
      open,
      header('noindex, nofollow, nosnippet, unavailable_after: 2030-01-01'),
      meta('none'),
      [undefined, undefined, undefined],
    ],
    [
      'is not for training',
      rules(all('Content-Signal: ai-train=no')),
      undefined,
      undefined,
      [undefined, undefined, undefined],
    ],
    [
      'is not for models',
      rules(all('Content-Signal: ai-input=no')),
      undefined,
      undefined,
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'reserves mining by a file',
      rules(null, '/', [{ location: '/', 'tdm-reservation': 1 }]),
      undefined,
      undefined,
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'reserves mining by a header',
      open,
      { ...header(), tdmReservation: '1' },
      undefined,
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'reserves mining by its page',
      open,
      undefined,
      { ...meta(''), tdmReservation: '1' },
      [undefined, 'use_reserved', 'use_reserved'],
    ],
    [
      'says in the header that it does not',
      rules(null, '/', [{ location: '/', 'tdm-reservation': 1 }]),
      { ...header(), tdmReservation: '0' },
      { ...meta(''), tdmReservation: '1' },
      [undefined, undefined, undefined],
    ],
  ])('%s', (_, site, headers, page, expected) => {
    const reports = ROBOTS_POLICIES.slice(1).map((policy) => reportUsage(policy, site, headers, page))
    for (const report of reports) RobotsReport.parse(report)
    expect(reports.map((report) => refuseUsage(report)?.reason)).toEqual(expected)
  })

  it('is reported with all that was said', () => {
    expect(
      reportUsage(
        'report',
        closed,
        { ...header('noai'), tdmPolicy: 'https://a.example/t' },
        meta('nosnippet'),
      ),
    ).toEqual({
      policy: 'report',
      robots_txt: 'disallowed',
      robots_line: 2,
      names_us: false,
      directives: ['noai', 'nosnippet'],
      content_signals: {},
      tdm_reserved: null,
      tdm_policy: 'https://a.example/t',
    })
  })
})
