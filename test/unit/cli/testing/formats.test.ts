// What `test` prints for continuous integration: the names in it come from whoever sent the change.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { CommandFailure, Exit } from '../../../../src/cli/exit.ts'
import { formatGithub } from '../../../../src/cli/testing/github.ts'
import { exitCodeOf, type Faulty, type Judged, type Outcome } from '../../../../src/cli/testing/outcome.ts'
import { toSarif } from '../../../../src/cli/testing/sarif.ts'
import { testTransaction } from '../../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../../data/commerce/samples.ts'
import { wire } from '../../../support/commerce.ts'
import { SARIF } from '../../../support/sarif-schema.ts'

const judge = (file: string, sample: unknown): Judged => ({
  file,
  text: JSON.stringify(sample, null, 2),
  report: testTransaction(sample as Parameters<typeof testTransaction>[0]),
})
const bare = judge('samples/bare.json', wire(SAMPLES['x402-bare']!))
const v1 = judge('samples/v1.json', { ...wire(SAMPLES['x402-bare']!), target: 'http://shop.example/pay' })
const unknown = judge('samples/none.json', { target: 'https://a.example/' })
const faulty: Faulty = {
  file: 'samples/broken.json',
  failure: new CommandFailure(
    Exit.data,
    'The file is no sample: it is not JSON: look at line 3, column 7.\nA sample is…',
  ),
}
const unread: Faulty = { file: 'gone.json', failure: new CommandFailure(Exit.usage, 'It cannot be read.') }
const outcome = (files: Outcome['files'], minScore?: number): Outcome => ({ files, minScore })
const everySample = Object.entries(SAMPLES).map(([name, sample]) => judge(`${name}.json`, wire(sample)))
const same = (file: string) => file

describe('the exit code', () => {
  it.each<[string, Outcome, number]>([
    ['is 0 where a report is all that was asked for', outcome([bare, v1, unknown]), 0],
    ['is 0 where every score is as high as was asked for', outcome([bare], 63), 0],
    ['is 1 where one score is a point lower', outcome([bare], 64), 1],
    ['is 1 for what is no transaction and has to score', outcome([unknown], 1), 1],
    ['is 0 for what is no transaction where 0 is enough', outcome([unknown], 0), 0],
    ['is 65 where a file is no sample, whatever the others score', outcome([bare, faulty], 64), 65],
    ['is 2 where a file cannot be read', outcome([faulty, unread, bare]), 2],
  ])('%s', (_, of, code) => {
    expect(exitCodeOf(of)).toBe(code)
  })
})

describe('workflow commands', () => {
  const lines = (of: Outcome) => formatGithub(of, same).split('\n')

  it('mark the line of what costs points, the dearest first, and say what to do', () => {
    const [score, ...rest] = lines(outcome([v1], 75))
    expect(score).toBe(
      '::error file=samples/v1.json,line=1,title=Score::samples/v1.json scores 40, and --min-score asks for 75.',
    )
    expect(rest.find((line) => line.includes('PLAIN_HTTP'))).toMatch(
      /^::error file=samples\/v1\.json,line=2,endLine=2,col=3,endColumn=11,title=PLAIN_HTTP::The score is at most 40: /,
    )
    const lost = rest.flatMap((line) => /\((\d+) points\)/.exec(line)?.[1] ?? []).map(Number)
    expect(lost.length).toBeGreaterThan(3)
    expect(lost).toEqual(lost.toSorted((a, b) => b - a))
    expect(rest.find((line) => line.includes('X402-IDEM-01'))).toContain('%0A-> ')
    expect(rest.at(-1)).toBe('1 tested, 1 failed.')
  })

  it('are no errors where nothing failed', () => {
    expect(lines(outcome([v1])).filter((line) => line.startsWith('::error'))).toEqual([])
    expect(lines(outcome([v1])).some((line) => line.startsWith('::warning'))).toBe(true)
  })

  it('mark the place where a file stops being JSON', () => {
    expect(lines(outcome([faulty]))[0]).toBe(
      '::error file=samples/broken.json,line=3,endLine=3,col=7,endColumn=8,title=NOT_A_SAMPLE::The file is no sample: it is not JSON: look at line 3, column 7.',
    )
  })

  it('show the part as it should look, and are one line each, whatever the sample is', () => {
    const files = everySample
    const written = lines(outcome(files, 100))
    expect(written.filter((line) => line.includes('X402-IDEM-01'))[0]).toMatch(/%0A\{.*payment-identifier/)
    for (const line of written) {
      const [, file = '', at, end] = /^::\w+ file=([^,]+),line=(\d+)(?:,endLine=(\d+))?/.exec(line) ?? []
      if (at === undefined) expect(line).toMatch(/^[\w.-]+\.json: \d+\/100 |^\d+ tested, \d+ failed\.$/)
      else {
        const last = files.find((each) => each.file === file)!.text.split('\n').length
        expect(Number(at)).toBeLessThanOrEqual(Number(end ?? at))
        expect(Number(end ?? at)).toBeLessThanOrEqual(last)
      }
    }
  })

  it('are never begun by a name of a file or of a member', () => {
    const nasty = '::stop-commands::x\r\n::error::forged%0A##[add-mask]\u2028::debug::,title=:'
    const sample = { ...wire(SAMPLES['x402-bare']!), target: 'http://a.example', [nasty]: 1 }
    const of = outcome([{ ...judge(nasty, sample) }, { ...faulty, file: nasty }], 75)
    const written = formatGithub(of, same)
    for (const line of written.split(/[\r\n\u2028]/u)) {
      expect(line).toMatch(/^(?:::(?:error|warning|notice) file=%3A%3Astop|\?|2 tested)/)
      // A property ends at a comma, and the properties at `::`.
      const [, properties = ''] = /^::\w+ (.*?)::/.exec(line) ?? []
      for (const property of properties.split(',').filter((one) => one !== ''))
        expect(property).toMatch(/^(?:file|line|endLine|col|endColumn|title)=[^:,]*$/)
      const names = properties.split(',').map((one) => one.split('=')[0])
      expect(new Set(names).size, properties).toBe(names.length)
    }
    expect(written).not.toMatch(/^[^:].*##\[/m)
    expect(written).toContain('%250A')
  })
})

describe('SARIF', () => {
  const isSarif = addFormats.default(new Ajv2020()).compile(SARIF)
  const read = (of: Outcome) => toSarif(of, same) as Sarif
  interface Sarif {
    readonly version: string
    readonly runs: readonly {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } }
      readonly invocations: readonly unknown[]
      readonly results: readonly {
        readonly ruleId: string
        readonly ruleIndex: number
        readonly level: string
        readonly message: { readonly text: string }
        readonly locations?: readonly {
          readonly physicalLocation: {
            readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string }
          }
        }[]
        readonly properties: { readonly fragment: string | null }
        readonly partialFingerprints: Record<string, string>
      }[]
    }[]
  }

  it('has a rule for each result, a region in the file, and the same bytes again', () => {
    const of = outcome([v1, bare], 75)
    const { version, runs } = read(of)
    expect([version, runs.length]).toEqual(['2.1.0', 1])
    const [run] = runs
    for (const result of run!.results) {
      expect(run!.tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId)
      expect(['error', 'warning', 'note']).toContain(result.level)
      expect(result.message.text).not.toBe('')
    }
    expect(run!.results.find(({ ruleId }) => ruleId === 'PLAIN_HTTP')).toMatchObject({
      ruleId: 'PLAIN_HTTP',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'samples/v1.json', uriBaseId: '%SRCROOT%' },
            region: { startLine: 2, startColumn: 3, endLine: 2, endColumn: 11 },
          },
        },
      ],
    })
    expect(JSON.stringify(toSarif(of, same))).toBe(JSON.stringify(toSarif(of, same)))
  })

  it.each<[string, Outcome, (file: string) => string | undefined]>([
    ['every sample', outcome(everySample, 75), same],
    ['a file that is no sample, and one that is no transaction', outcome([faulty, unread, unknown], 1), same],
    ['stdin', outcome([bare]), () => undefined],
    ['a file outside of the checkout', outcome([bare]), () => 'file:///tmp/a%20b.json'],
  ])('is written as the standard says: %s', (_, of, uriOf) => {
    // What goes out is the text: what JSON leaves out is not there.
    isSarif(JSON.parse(JSON.stringify(toSarif(of, uriOf))))
    expect(isSarif.errors).toBeNull()
    for (const { locations = [] } of (toSarif(of, uriOf) as Sarif).runs[0]!.results)
      for (const { physicalLocation } of locations) {
        const { uri, uriBaseId } = physicalLocation.artifactLocation
        // 3.4.4: an absolute address has no base.
        expect(uriBaseId).toBe(uri.startsWith('file:') ? undefined : '%SRCROOT%')
      }
  })

  it('says what to do in the words of a finding, and shows how it is written beside it', () => {
    const lost = read(outcome([bare])).runs[0]!.results.find(({ ruleId }) => ruleId === 'X402-IDEM-01')!
    const check = bare.report.checks.find(({ id }) => id === 'X402-IDEM-01')!
    expect(lost.message.text).toBe(`${check.finding} ${check.remediation}`)
    expect(lost.properties.fragment).toBe(check.fragment)
    expect(check.fragment).toContain('payment-identifier')
  })

  it('tells a finding from every other, and knows it again when lines above it were added', () => {
    const prints = (of: Outcome) =>
      read(of).runs[0]!.results.map(({ partialFingerprints }) => partialFingerprints['findingAt/v1'])
    const found = prints(outcome([v1, bare]))
    expect(new Set(found).size).toBe(found.length)
    expect(prints(outcome([{ ...v1, text: `\n\n${v1.text}` }, bare]))).toEqual(found)
  })

  it('says of a file that is no sample that it is none, and has no place for stdin', () => {
    expect(read(outcome([faulty])).runs[0]).toMatchObject({
      invocations: [{ executionSuccessful: false }],
      results: [{ ruleId: 'NOT_A_SAMPLE', level: 'error' }],
    })
    const { runs } = toSarif(outcome([bare]), () => undefined) as Sarif
    expect(runs[0]!.results.every(({ locations }) => locations === undefined)).toBe(true)
  })
})
