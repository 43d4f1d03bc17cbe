import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readGtin, readIsbn, readLabelled, readPlain } from '../../../src/outcomes/products/identifiers.ts'

describe('GTIN', () => {
  it.each<[value: string, gtin14: string]>([
    ['9506000134352', '09506000134352'],
    ['4006381333931', '04006381333931'],
    ['036000291452', '00036000291452'],
    ['96385074', '00000096385074'],
    ['10614141000415', '10614141000415'],
    ['978-3-16-148410-0', '09783161484100'],
    ['0-306-40615-2', '09780306406157'],
    ['080442957X', '09780804429573'],
    ['EAN: 4006381333931', '04006381333931'],
    ['gtin13:4006381333931', '04006381333931'],
    ['https://id.gs1.org/01/09506000134352', '09506000134352'],
    ['٤٠٠٦٣٨١٣٣٣٩٣١', '04006381333931'],
  ])('takes %s for %s', (value, normalised) => {
    expect(readGtin(value)).toMatchObject({ value, normalised, valid: true, reason: null })
  })

  it.each<[value: string, reason: string]>([
    ['4006381333932', 'check_digit'],
    ['036000291453', 'check_digit'],
    ['400638133393', 'check_digit'],
    ['40063813339', 'length'],
    ['0306406153', 'length'],
    ['0000000000000', 'placeholder'],
    ['n/a', 'not_digits'],
    ['4006381333931a', 'not_digits'],
    ['', 'not_digits'],
  ])('refuses %s: %s', (value, reason) => {
    expect(readGtin(value)).toMatchObject({ normalised: null, valid: false, reason })
  })

  it.each(['2000000000008', '0212345678909', '20000004', '9912345678908'])(
    'marks %s as good inside one company only',
    (value) => {
      const digits = value.slice(0, -1)
      const right = [...'0123456789'].find((digit) => readGtin(digits + digit).valid)
      expect(readGtin(digits + right)).toMatchObject({ valid: true, reason: 'restricted' })
    },
  )

  it('gives a number back the zeros that JSON took from it, and no text', () => {
    expect(readGtin('36000291452', { isNumber: true })).toMatchObject({
      normalised: '00036000291452',
      valid: true,
    })
    expect(readGtin('36000291452')).toMatchObject({ valid: false, reason: 'length' })
  })

  it('notices every single wrong digit', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.integer({ min: 1, max: 9 }), (at, by) => {
        const digits = [...'4006381333931']
        digits[at] = String((Number(digits[at]) + by) % 10)
        expect(readGtin(digits.join('')).valid).toBe(false)
      }),
    )
  })

  it('knows that an ISBN is a GTIN of the book trade', () => {
    expect(readIsbn('9783161484100')).toMatchObject({ kind: 'isbn', valid: true })
    expect(readIsbn('4006381333931')).toMatchObject({ kind: 'isbn', valid: false, reason: 'not_an_isbn' })
  })
})

describe('other identifiers', () => {
  it.each(['', '-', 'N/A', 'n.a.', 'none', 'Does not apply', '000', 'Nicht zutreffend', 'null'])(
    'takes %j for a placeholder',
    (value) => {
      expect(readPlain('mpn', value)).toMatchObject({ normalised: null, valid: false, reason: 'placeholder' })
    },
  )

  it('folds case, spaces and dashes, and nothing that tells two parts apart', () => {
    const fold = (value: string) => readPlain('mpn', value).normalised
    expect(fold('AB-12 c')).toBe(fold('ab12C'))
    expect(fold('AB.12')).not.toBe(fold('AB12'))
    expect(fold('AB/12')).not.toBe(fold('AB12'))
  })

  it.each<[value: string, kind: string, valid: boolean]>([
    ['isbn:9783161484100', 'isbn', true],
    ['ean:4006381333932', 'gtin', false],
    ['mpn:925872', 'mpn', true],
    ['925872', 'product_id', true],
    ['asin:B07FW264WL', 'asin', true],
    ['asin:nothing', 'asin', false],
  ])('reads %s as %s', (value, kind, valid) => {
    expect(readLabelled(value)).toMatchObject({ kind, valid })
  })
})
