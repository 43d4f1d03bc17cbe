import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDate } from '../../../src/outcomes/feeds/dates.ts'

describe('parseDate', () => {
  it.each([
    ['RFC 822', 'Thu, 01 Jan 2004 19:48:21 GMT', '2004-01-01T19:48:21Z'],
    ['two-digit year', 'Thu, 31 Dec 03 10:14:55 GMT', '2003-12-31T10:14:55Z'],
    ['two-digit year of the last century', '01 Feb 99 00:00:00 Z', '1999-02-01T00:00:00Z'],
    ['numeric offset', 'Mon, 02 Feb 2026 07:00:00 -0500', '2026-02-02T07:00:00-05:00'],
    ['offset with a comment', 'Mon, 02 Feb 2026 07:00:00 +0200 (EET)', '2026-02-02T07:00:00+02:00'],
    ['American zone', 'Mon, 02 Feb 2026 07:00:00 PDT', '2026-02-02T07:00:00-07:00'],
    ['MET', 'Mon, 02 Feb 2026 07:00:00 MET', '2026-02-02T07:00:00+01:00'],
    ['MEST', 'Thu, 02 Jul 2026 07:00:00 MEST', '2026-07-02T07:00:00+02:00'],
    ['GMT with an offset', 'Mon, 02 Feb 2026 07:00:00 GMT-01:01', '2026-02-02T07:00:00-01:01'],
    ['Etc/GMT', 'Mon, 02 Feb 2026 07:00:00 Etc/GMT', '2026-02-02T07:00:00Z'],
    ['hyphens', '02-Feb-2026 07:00 UTC', '2026-02-02T07:00:00Z'],
    ['long month', '2 February 2026 07:00:00 UT', '2026-02-02T07:00:00Z'],
    ['month first', 'Feb 2, 2026 7:05 PM EST', '2026-02-02T19:05:00-05:00'],
    ['midnight in twelve hours', 'Feb 2, 2026 12:05 am UTC', '2026-02-02T00:05:00Z'],
    ['asctime with a zone', 'Sun Jan  4 16:29:06 PST 2004', '2004-01-04T16:29:06-08:00'],
    ['as JavaScript prints it', 'Mon Feb 02 2026 07:00:00 GMT+0100 (CET)', '2026-02-02T07:00:00+01:00'],
    ['RFC 3339', '2026-02-02T07:00:00+05:30', '2026-02-02T07:00:00+05:30'],
    ['fractions', '2026-02-02T07:00:00.123456Z', '2026-02-02T07:00:00Z'],
    ['lower case', '2026-02-02t07:00:00z', '2026-02-02T07:00:00Z'],
    ['without seconds', '2026-02-02T07:00-03:30', '2026-02-02T07:00:00-03:30'],
    ['basic format', '20260202T070000Z', '2026-02-02T07:00:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z', '2016-12-31T23:59:59Z'],
    ['a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['Greek', 'Κυρ, 11 Ιούλ 2004 12:00:00 EST', '2004-07-11T12:00:00-05:00'],
    ['Hungarian', '2004-július-13T9:15-05:00', '2004-07-13T09:15:00-05:00'],
    ['German', 'Mo, 02 März 2026 07:00:00 +0100', '2026-03-02T07:00:00+01:00'],
  ])('reads %s: %s', (_name, raw, at) => {
    const date = parseDate(raw)
    expect(date).toMatchObject({ raw: raw.trim(), at, isZoneStated: true })
    expect(date.epochMs).toBe(Date.parse(at))
  })

  it.each([
    ['2026', '2026-01-01T00:00:00Z', 'year'],
    ['2026-02', '2026-02-01T00:00:00Z', 'month'],
    ['2026-02-03', '2026-02-03T00:00:00Z', 'day'],
    ['20260203', '2026-02-03T00:00:00Z', 'day'],
    ['2003335', '2003-12-01T00:00:00Z', 'day'],
    ['2004-366', '2004-12-31T00:00:00Z', 'day'],
    ['031231', '2003-12-31T00:00:00Z', 'day'],
    ['03-12-31', '2003-12-31T00:00:00Z', 'day'],
    ['2026-02-03 10:15', '2026-02-03T10:15:00Z', 'minute'],
    ['2026-02-03 10:15:16', '2026-02-03T10:15:16Z', 'second'],
    ['Sun Jan  4 16:29:06 2004', '2004-01-04T16:29:06Z', 'second'],
    ['03.02.2026 10:15', '2026-02-03T10:15:00Z', 'minute'],
    ['25/12/2026', '2026-12-25T00:00:00Z', 'day'],
    ['12/25/2026', '2026-12-25T00:00:00Z', 'day'],
    ['2004년 05월 28일 오후 01:31:15', '2004-05-28T13:31:15Z', 'second'],
    ['2026年2月3日', '2026-02-03T00:00:00Z', 'day'],
    // Named, but for several places of the world.
    ['Mon, 02 Feb 2026 07:00:00 IST', '2026-02-02T07:00:00Z', 'second'],
    ['Mon, 02 Feb 2026 07:00:00 A', '2026-02-02T07:00:00Z', 'second'],
  ])('says that %s has no certain zone, and how exact it is', (raw, at, precision) => {
    expect(parseDate(raw)).toMatchObject({ at, precision, isZoneStated: false })
  })

  it.each([
    ['no date', 'yesterday'],
    ['either of two days', '03/04/2026'],
    ['no such month', '2026-13-01'],
    ['no such day', '2026-02-29T00:00:00Z'],
    ['no such day of the year', '2003-366'],
    ['no such hour', '2026-02-03T25:00:00Z'],
    ['no such offset', '2026-02-03T10:00:00+99:00'],
    ['a month nobody knows', '01 Foo 2026 10:00:00 GMT'],
    ['something behind it', '2026-02-03T10:00:00Z and so on'],
    ['seconds since 1970', '1770000000'],
    ['nothing', ''],
  ])('leaves what it does not know as raw text: %s', (_name, raw) => {
    expect(parseDate(raw)).toEqual({ raw, at: null, epochMs: null, precision: null, isZoneStated: false })
  })

  it('reads back every instant in every zone', () => {
    const instant = fc.date({ min: new Date('1970-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(instant, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset) => {
        const seconds = Math.floor(date.getTime() / 1000)
        const local = new Date(seconds * 1000 + offset * 60_000).toISOString().slice(0, 19)
        const size = Math.abs(offset)
        const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
        const parsed = parseDate(local + zone)
        expect(parsed.epochMs).toBe(seconds * 1000)
        expect(parsed.at).toBe(local + (offset === 0 ? 'Z' : zone))
      }),
    )
  })

  it('never throws, and what it gives is a date', () => {
    const piece = fc.constantFrom(
      '2026',
      '-',
      ':',
      'T',
      'Z',
      ' ',
      'Feb',
      '31',
      '99',
      '+',
      'pm',
      ',',
      '年',
      'Mon',
      '٣',
      '\u0301',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const { at, epochMs } = parseDate(text)
          expect(at === null).toBe(epochMs === null)
          if (at !== null) expect(Date.parse(at)).toBe(epochMs)
        },
      ),
      { numRuns: 500 },
    )
  })
})
