import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponentOf, inferCurrency, readCurrency } from '../../../src/outcomes/products/currencies.ts'
import { compareAmounts, readAmount, toMinorUnits, toMoney } from '../../../src/outcomes/products/money.ts'

const shown = (text: string, currency: string | null = null) => readAmount(text, { isData: false, currency })
const data = (text: string, currency: string | null = null) => readAmount(text, { isData: true, currency })

describe('readAmount', () => {
  it.each<[text: string, amount: string]>([
    ['12.50', '12.50'],
    ['12,50 €', '12.50'],
    ['€ 1.234,56', '1234.56'],
    ['$1,234.56', '1234.56'],
    ["CHF 1'234.56", '1234.56'],
    ['CHF 1’234.50', '1234.50'],
    ['1 234,56 zł', '1234.56'],
    ['1\u00a0234\u00a0567,8', '1234567.8'],
    ['1\u202f234,00', '1234.00'],
    ['₹ 1,23,456.00', '123456.00'],
    ['1.234.567', '1234567'],
    ['19.–', '19'],
    ['12,-', '12'],
    ['.75', '0.75'],
    ['0012.5', '12.5'],
    ['0,5', '0.5'],
    ['0.500', '0.500'],
    ['15.990000', '15.990000'],
    ['19.99 200 g', '19.99'],
    ['ab 12,95 €', '12.95'],
    ['19.99 - 20 % off', '19.99'],
    ['12.50-10.00', '12.50'],
    ['١٢٫٥٠ ر.س', '12.50'],
    ['١٬٢٣٤٫٥٠', '1234.50'],
    ['۱۲۳', '123'],
    ['１２，５０', '12.50'],
    ['१२.५०', '12.50'],
    ['118, 99 TL', '118.99'],
    ['118 ,99 TL', '118.99'],
    ['118 ,99', '118.99'],
    ['1 299, 00 kr', '1299.00'],
    ['1 299 ,00 kr', '1299.00'],
    ['1.299, 00 €', '1299.00'],
    ['₺ 1.118, 99', '1118.99'],
    ['$ 118. 99', '118.99'],
    ['١١٨ ٫٩٩ ر.س', '118.99'],
    ['1 299 kr', '1299'],
    ['19.99 , 25.00 €', '19.99'],
    ['from 5 EUR, 10 pieces', '5'],
    ['12,50 €, 20 Stück', '12.50'],
  ])('reads %s as %s without a doubt', (text, amount) => {
    expect(shown(text)).toEqual({ amount, isAmbiguous: false, isRange: false })
  })

  it.each([
    '12.50 - 15.00',
    '12.50–15',
    '€ 12,50 bis € 15,00',
    '12.50 to 1,299.00',
    '12,50 € – 15,00 €',
    '12.50 EUR - 15.00 EUR',
    '١٢٫٥٠ - ١٥',
  ])('takes the lower of %s, and says that there is a higher', (text) => {
    expect(shown(text)).toEqual({ amount: '12.50', isAmbiguous: false, isRange: true })
  })

  it.each([
    ['118, 99 TL KDV dahil', '118.99'],
    ['118 99 TL', '118.99'],
    ['12, 5 €', '12.5'],
    ['sizes 38, 40 left', '38'],
    ['5, 10 pieces', '5'],
    ['10, 20, 30 €', '10'],
  ])('doubts %s, where a space stands inside a number or between two', (text, amount) => {
    expect(shown(text, 'TRY')).toMatchObject({ amount, isAmbiguous: true })
  })

  it('reads no cents into a currency that has none', () => {
    expect(shown('118 99 円', 'JPY')).toMatchObject({ amount: '118' })
  })

  it('reads what a shop calculated, to the last digit', () => {
    expect(data('19.990000000000002')).toMatchObject({ amount: '19.990000000000002' })
    expect(data(String(0.1 + 0.2))).toMatchObject({ amount: '0.30000000000000004' })
    expect(toMoney('19.990000000000002', 'EUR', '').minor_units).toBeNull()
  })

  it.each<[text: string, isData: boolean, currency: string | null, amount: string, isAmbiguous: boolean]>([
    ['1.234', false, null, '1234', true],
    ['1,234', false, null, '1234', true],
    ['1,234', false, 'USD', '1234', false],
    ['1.234', false, 'USD', '1234', true],
    ['1.234', false, 'BRL', '1234', false],
    ['1.234', true, 'USD', '1.234', true],
    ['1,234', true, 'GBP', '1234', false],
    ['1,234', true, 'EUR', '1234', true],
    ['24.990', false, 'CLP', '24990', false],
    ['24.990', true, 'CLP', '24990', true],
    ['12,990', true, 'JPY', '12990', false],
    ['1.250', false, 'KWD', '1.250', false],
    ['1.250', true, 'KWD', '1.250', false],
    ['1,250', false, 'KWD', '1.250', true],
    ['1234.567', true, 'USD', '1234.567', false],
    ['1.2345', false, null, '1.2345', false],
  ])('takes %s (data: %s, %s) for %s, ambiguous: %s', (text, isData, currency, amount, isAmbiguous) => {
    expect(readAmount(text, { isData, currency })).toMatchObject({ amount, isAmbiguous })
  })

  it.each([
    '',
    'Free!',
    'on request',
    '-5.00',
    '− 5',
    '20 %',
    '1e21',
    '12.34.56',
    '1.23.456',
    '1'.repeat(16),
  ])('gives no amount for %j', (text) => {
    expect(data(text)).toBeNull()
  })

  it('reads back every plain decimal unchanged', () => {
    const decimals = fc
      .tuple(fc.nat(9_999_999), fc.integer({ min: 0, max: 99 }))
      .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`)
    fc.assert(
      fc.property(decimals, (amount) => {
        expect(data(amount)).toEqual({ amount, isAmbiguous: false, isRange: false })
      }),
    )
  })

  it('reads the same amount from every way to group and to divide', () => {
    const styles = [
      [',', '.'],
      ['.', ','],
      [' ', ','],
      ["'", '.'],
      ['\u00a0', '.'],
      ['٬', '٫'],
    ] as const
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 99_999_999 }),
        fc.integer({ min: 0, max: 99 }),
        fc.constantFrom(...styles),
        (whole, cents, [group, point]) => {
          const fraction = String(cents).padStart(2, '0')
          const text = String(whole).replace(/\B(?=(?:\d{3})+$)/g, group) + point + fraction
          expect(shown(text)).toMatchObject({ amount: `${whole}.${fraction}`, isAmbiguous: false })
        },
      ),
    )
  })

  it('never throws, and what it reads is a plain decimal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.boolean(), (text, isData) => {
        const read = readAmount(text, { isData, currency: null })
        if (read) expect(read.amount).toMatch(/^(?:0|[1-9]\d*)(?:\.\d+)?$/)
      }),
    )
  })
})

describe('currencies', () => {
  it.each<[text: string, code: string | null]>([
    ['EUR', 'EUR'],
    ['eur', 'EUR'],
    ['19,95 €', 'EUR'],
    ['US$ 5', 'USD'],
    ['R$ 5', 'BRL'],
    ['R$', 'BRL'],
    ['$5', null],
    ['5 kr', null],
    ['¥500', null],
    ['99 ر.س', 'SAR'],
    ['1.500 د.ك', 'KWD'],
    ['997,00 zł', 'PLN'],
    ['131 990 тг.', 'KZT'],
    ['Software 5', null],
    ['top all', null],
    ['ABC', null],
    ['price 5 USD', 'USD'],
  ])('reads %j as %s', (text, code) => {
    expect(readCurrency(text)).toBe(code)
  })

  it.each<[text: string, region: string | null, code: string | null]>([
    ['$5', 'CA', 'CAD'],
    ['$5', 'DE', null],
    ['$5', null, null],
    ['5 kr', 'SE', 'SEK'],
    ['¥5', 'JP', 'JPY'],
    ['5 ريال', 'OM', 'OMR'],
    ['$5', 'constructor', null],
  ])('infers %j in %s as %s', (text, region, code) => {
    expect(inferCurrency(text, region)).toBe(code)
  })

  it.each([
    ['JPY', 0],
    ['CLP', 0],
    ['KWD', 3],
    ['TND', 3],
    ['EUR', 2],
  ])('knows that %s has %i decimals', (code, exponent) => {
    expect(exponentOf(code)).toBe(exponent)
  })
})

describe('minor units', () => {
  it.each<[amount: string, currency: string, units: string | null]>([
    ['12.5', 'EUR', '1250'],
    ['12', 'EUR', '1200'],
    ['12.500000', 'EUR', '1250'],
    ['12.505', 'EUR', null],
    ['1299.00', 'JPY', '1299'],
    ['1.25', 'KWD', '1250'],
    ['999999999999999.99', 'USD', '99999999999999999'],
  ])('counts %s %s as %s', (amount, currency, units) => {
    expect(toMinorUnits(amount, currency)).toBe(units)
  })

  it('says nothing without a currency', () => {
    expect(toMoney('1.5', null, '1.5').minor_units).toBeNull()
  })

  it('orders amounts that a double cannot tell apart', () => {
    expect(compareAmounts('900719925474099.31', '900719925474099.3')).toBe(1)
    expect(compareAmounts('2.50', '2.5')).toBe(0)
    expect(compareAmounts('9', '10')).toBe(-1)
  })
})
