// Names in front of an address: which may pass with it, and which can be taken for something else.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDisplayForm } from '../../../src/email/display-form.ts'
import { isMisleadingName } from '../../../src/email/name.ts'

describe('a name', () => {
  it.each<[string, string]>([
    ['', 'none at all'],
    ['Ada Lovelace', 'words'],
    ['Lovelace, Ada (Countess)', 'marks that had to be quoted'],
    ['Dr. J.R.R. Tolkien, Ph.D.', 'dots after initials and titles'],
    ['St.Gallen', 'letters behind a dot that end no domain'],
    ['Version 2.0', 'digits behind a dot'],
    ['Analytics Inc.', 'a dot at the end'],
    ['The .com guy', 'an ending without a name'],
    ['The ".com" (.net) guy', 'endings without a name, quoted'],
    ['Ул. Мира, д.5', 'abbreviations of another script'],
    ['Γ.Σ. Κόμης', 'initials of another script'],
    ['O´Brien', 'an accent for an apostrophe'],
    ['µTorrent', 'the sign of a millionth'],
    ['Яндекс™', 'a sign that stands for Latin letters'],
    ['株式会社ABC', 'Latin among Han, which it does not look like'],
    ['a: b / c // d', 'a colon and slashes, apart'],
    ["Zoë O'Brien-Ångström", 'accents'],
    ['Zoe\u0308', 'a combining mark on its letter'],
    ['Ада Лавлейс', 'one script that imitates'],
    ['Ада Lovelace', 'two scripts, a word each'],
    ['Σοφία-Anna', 'two scripts, parted by a hyphen'],
    ['山田　太郎', 'an ideographic space'],
    ['Ada\u00A0Lovelace', 'a no-break space'],
    ['نامه\u200Cای', 'a non-joiner in its place'],
    ['👩\u200D💻 Ada ❤️', 'pictures, joined'],
    ['👨\u200D👩\u200D👧\u200D👦 🏳️\u200D🌈 👩🏽\u200D💻 1️⃣ 🇨🇭', 'more of them, a key, a flag'],
    ['🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} Ada', 'the flag of Scotland'],
    ['葛\u{E0100}城', 'a Han character in one of its forms'],
    ['הֲלֹא', 'marks of Hebrew'],
    ['n'.repeat(64), '64 characters'],
    ['👧'.repeat(64), '64 characters in 128 units'],
    ['=?', 'the beginning of nothing'],
  ])('%j may stand there: %s', (name) => {
    expect(isMisleadingName(name)).toBe(false)
  })

  it.each<[string, string]>([
    ['ceo@bank.com', 'an address'],
    ['ada @ home', 'an @'],
    ['ceo\uFF20bank', 'a full-width @'],
    ['ceo\uFE6Bbank', 'a small @'],
    ['Ada <x>', 'brackets'],
    ['Ada \uFF1Cx\uFF1E', 'full-width brackets'],
    ['bank.com', 'a domain'],
    ['BANK.COM', 'a domain, in capitals'],
    ['Your bank.co.uk team', 'a domain in the midst'],
    ['bank.com.', 'a domain before a dot'],
    ['bank.com-support', 'a domain before a hyphen'],
    ['bank.com.x', 'a domain before what ends none'],
    ['bank\u3002com', 'an ideographic dot'],
    ['bank\uFF0Ecom', 'a full-width dot'],
    ['bank\uFF61com', 'a half-width dot'],
    ['bank\u2024com', 'a dot leader'],
    ['ｂａｎｋ.ｃｏｍ', 'full-width letters'],
    ['𝐛𝐚𝐧𝐤.𝐜𝐨𝐦', 'mathematical letters'],
    ['банк.рф', 'a domain of another script'],
    ['bank.сом', 'an ending of Cyrillic letters that look like com'],
    ['BANK.СН', 'an ending of Cyrillic capitals'],
    ['BANK.ΝΕΤ', 'an ending of Greek capitals'],
    ['bank.ᴄᴏm', 'an ending with small capitals'],
    ['bank.co\u0335m', 'an ending with a mark on it'],
    ['bank\uA4F8com', 'a tone of Lisu, drawn as a dot'],
    ['bank\u0660com', 'a zero, drawn as a dot'],
    ['bank\uA60Ecom', 'a full stop of Vai'],
    ['x\uA4F8bank\uA4F8com', 'two of them'],
    ['bank.com™', 'a domain before a sign that stands for letters'],
    ['bank\uFF0Ecom™', 'the same behind a full-width dot'],
    ['bank.com②', 'a domain before a digit in a circle'],
    ['bank.com2', 'a domain before a digit'],
    ['bank.com\u02BCs', 'a domain before a letter that is drawn as an apostrophe'],
    ['bank.comⁿ', 'a domain before a raised letter'],
    ['访问bank.com获取', 'a domain among letters that part no words'],
    ['bank.сом获取', 'the same of Cyrillic letters'],
    ['🍕.ws', 'a domain of a picture'],
    ['"bank".com', 'a domain half in quotes'],
    ['www.bank1', 'what sites begin with'],
    ['bank.XN--P1AI', 'an A-label'],
    ['http://1', 'a scheme'],
    ['http:／／1', 'a scheme in full width'],
    ['x\uA789\u2215\u2215y', 'a scheme of letters that look like it'],
    [String.raw`x:\\\\y`, 'backslashes, which browsers turn'],
    ['https:y', 'a scheme alone'],
    ['=?UTF-8?B?Y2VvQGJhbmsuY29t?=', 'a word that mail programs decode'],
    ['Ada =?iso-8859-1?q?ceo=40bank?=', 'another, quoted-printable'],
    ['Ada\u202EavoL', 'a bidi control'],
    ['Ada\u2066', 'an isolate'],
    ['Ada\u200B', 'zero width, at the end'],
    ['\uFEFFAda', 'zero width, at the start'],
    ['A\u00ADda', 'a soft hyphen'],
    ['Ada\u200CLovelace', 'a non-joiner out of place'],
    ['Ada\u0085', 'a control of Latin-1'],
    ['A\uFE0Fda', 'a selector behind a letter'],
    ['A\u{E0100}da', 'another'],
    ['A\u180Bda', 'one of Mongolian'],
    ['\uFE0FAda', 'a selector of nothing'],
    ['Ada 1\uFE0F', 'one behind a digit that is no key'],
    ['Ada\u2800Lovelace', 'an empty cell of Braille'],
    ['Ada\u{1D159}', 'a note without a head'],
    ['🏴\u{E0068}\u{E0069}\u{E007F}', 'letters hidden behind a flag'],
    ['A\u0301\u0301\u0301\u0301\u0301da', 'marks on marks'],
    ['Ada \u0301x', 'a mark on nothing'],
    ['Ada\tLovelace', 'a tab in quotes'],
    ['Ada\u2028Lovelace', 'a line separator'],
    ['Ada\u2003Lovelace', 'an em space'],
    ['Ada\uE000', 'a character of nobody'],
    ['Ada\uFFFE', 'a noncharacter'],
    ['Аda', 'a Cyrillic letter among Latin ones'],
    ['the Pаypаl team', 'two of them, in one word of many'],
    ['Αda', 'a Greek letter among Latin ones'],
    ['Σофья', 'a Greek letter among Cyrillic ones'],
    ['P\uA4EEYPAL', 'a letter of Lisu among Latin ones'],
    ['𝐩аураl', 'mathematical letters among Cyrillic ones'],
    ['\uFDFA'.repeat(4), 'four characters that read as 72'],
    ['n'.repeat(65), '65 characters'],
  ])('%j can be taken for something else: %s', (name) => {
    expect(isMisleadingName(name)).toBe(true)
  })

  it('is judged as it is shown: without quotes and escapes, whatever words it is cut into', () => {
    const read = (text: string) => readDisplayForm(text)?.name
    expect(read('Ada <a@b>')).toBe('Ada')
    expect(read('<a@b>')).toBe('')
    expect(read('Ada\t\t<a@b>')).toBe('Ada ')
    expect(read('"Ada" B "C." <a@b>')).toBe('Ada B C.')
    expect(read(String.raw`"\A\"d\\a\" " <a@b>`)).toBe(String.raw`A"d\a" `)
    expect(read(String.raw`"ceo\@bank"".com"<a@b>`)).toBe('ceo@bank.com')
    expect(read('Ada\u200B <a@b>')).toBe('Ada\u200B')
  })

  it('of any characters is judged without an error, and no better with an @ or a domain in it', () => {
    const text = fc.string({ unit: 'binary', maxLength: 70 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        isMisleadingName(before)
        expect(isMisleadingName(`${before}@${after}`)).toBe(true)
        expect(isMisleadingName(`${before} bank.com ${after}`)).toBe(true)
      }),
    )
  })
})
