// What `npm run build` draws: icons in the sizes that systems ask for, and the picture that a link to the site shows where it is shared.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { renderAsync, type ResvgRenderOptions } from '@resvg/resvg-js'
import { LANGUAGES, type Language } from './routes.ts'
import { common } from './texts/common.ts'
import { type PictureName, pictureTexts } from './texts/pictures.ts'

const fontFile = (weight: string) =>
  fileURLToPath(import.meta.resolve(`vazirmatn/fonts/ttf/Vazirmatn-${weight}.ttf`))
const FONTS: ResvgRenderOptions = {
  font: {
    fontFiles: [fontFile('Bold'), fontFile('Medium')],
    loadSystemFonts: false,
    defaultFontFamily: 'Vazirmatn',
  },
}

const ICONS = [32, 180, 192, 512] as const
/** Width and height that every network shows whole. */
const PREVIEW = { width: 1200, height: 630 } as const

/** @param publish writes a file under its public name */
export async function buildPictures(
  publish: (name: string, content: Uint8Array) => Promise<void>,
): Promise<void> {
  const icon = await readFile(new URL('./pictures/icon.svg', import.meta.url), 'utf8')
  await Promise.all([
    publish('icon.svg', Buffer.from(icon)),
    ...ICONS.map(async (size) =>
      publish(
        `icon-${size}.png`,
        await draw(icon, { fitTo: { mode: 'width', value: size }, ...onPaper(size) }),
      ),
    ),
    ...LANGUAGES.flatMap((language) =>
      (Object.keys(pictureTexts[language]) as PictureName[]).map(async (name) =>
        publish(`preview-${name}-${language}.png`, await draw(preview(name, language), FONTS)),
      ),
    ),
  ])
}

/** What stands on a home screen has no transparent corners; in a tab it has. */
const onPaper = (size: number): ResvgRenderOptions => (size > 32 ? { background: '#faf9f5' } : {})

const draw = async (svg: string, options: ResvgRenderOptions): Promise<Uint8Array> =>
  (await renderAsync(svg, options)).asPng()

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Paper, ink and petrol as on the site; the gate stands large behind the words. */
function preview(name: PictureName, language: Language): string {
  const { width, height } = PREVIEW
  const { title, words } = pictureTexts[language][name]
  const isArabic = language === 'ar'
  const [x, anchor] = isArabic ? [width - 88, 'end'] : [88, 'start']
  const gate = isArabic ? 'translate(-190 96)' : `translate(${width - 340} 96)`
  const mark = isArabic ? `translate(${width - 88 - 56} 72)` : 'translate(88 72)'
  const brandX = isArabic ? width - 88 - 76 : 88 + 76
  const line = (text: string, y: number, size: number, weight: number, colour: string, at = x) =>
    `<text x="${at}" y="${y}" text-anchor="${anchor}" font-family="Vazirmatn" font-size="${size}" font-weight="${weight}" fill="${colour}">${escape(text)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" fill="#faf9f5"/>
<g transform="${gate} scale(16.5)" opacity="0.07"><path d="M6 27V12a10 10 0 0 1 20 0v15" fill="none" stroke="#0b5f63" stroke-width="3" stroke-linecap="round"/></g>
<g transform="${mark} scale(1.75)"><path d="M6 27V12a10 10 0 0 1 20 0v15" fill="none" stroke="#0b5f63" stroke-width="3" stroke-linecap="round"/><path d="M11 19h9m-3.5-3.5L20 19l-3.5 3.5" fill="none" stroke="#8f5600" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></g>
${line(common[language].name, 114, 36, 700, '#17211f', brandX)}
${title.map((text, at) => line(text, 312 + at * 96, 76, 700, '#17211f')).join('\n')}
${line(words, 524, 34, 500, '#0b5f63')}
<rect x="0" y="${height - 14}" width="100%" height="14" fill="#f3b643"/>
</svg>`
}
