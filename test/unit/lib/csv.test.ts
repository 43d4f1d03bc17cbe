import { expect, it } from 'vitest'
import { csvField, csvRow } from '../../../src/lib/csv.ts'

it.each([
  ['=HYPERLINK("https://evil.example","x")', `"'=HYPERLINK(""https://evil.example"",""x"")"`],
  ['+1+1', "'+1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-2+3', "'-2+3"],
  ['\t=1', "'\t=1"],
  [' =1', "' =1"],
  ['\r=1', `"'\r=1"`],
  ['＝1', "'＝1"],
])('makes no formula of %j', (text, field) => {
  expect(csvField(text)).toBe(field)
})

it.each(['-12', '-0.5', 'a=b', 'user@host', '', 'GET'])('leaves %j as it is', (text) => {
  expect(csvField(text)).toBe(text)
})

it('quotes what would end a field or a row', () => {
  expect(csvRow(['a,b', 'c"d', 'e\nf', null, 5])).toBe('"a,b","c""d","e\nf",,5\r\n')
})
