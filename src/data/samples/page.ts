// A sample source: what a server would answer. Everything in it is invented, and its dates never change.

export interface SamplePage {
  readonly path: string
  readonly contentType: string
  readonly contentLanguage?: string
  /** The bytes as they are sent, in the charset of the page. */
  readonly body: Buffer
}

/** Written for the address that it is served from. */
export type MakePage = (origin: string) => SamplePage

const text = (path: string, contentType: string, body: string, contentLanguage?: string): SamplePage => ({
  path,
  contentType,
  ...(contentLanguage !== undefined && { contentLanguage }),
  body: Buffer.from(body),
})

/** A page of HTML in UTF-8 at a path of the sample site. */
export const html = (path: string, body: string, contentLanguage?: string) =>
  text(path, 'text/html; charset=utf-8', body, contentLanguage)
/** A page of JSON with an indent of two. */
export const json = (path: string, body: unknown) =>
  text(path, 'application/json', `${JSON.stringify(body, undefined, 2)}\n`)
/** A page of plain text in UTF-8. */
export const plain = (path: string, body: string) => text(path, 'text/plain; charset=utf-8', body)
/** A page that is a feed in RSS. */
export const rss = (path: string, body: string) => text(path, 'application/rss+xml; charset=utf-8', body)
/** A page that is a feed in Atom. */
export const atom = (path: string, body: string) => text(path, 'application/atom+xml; charset=utf-8', body)

/** The site around a page: what an extraction leaves out. */
export const shell = (parts: {
  readonly lang: string
  readonly head: string
  readonly main: string
  readonly dir?: 'rtl'
}): string => `<!doctype html>
<html lang="${parts.lang}"${parts.dir ? ` dir="${parts.dir}"` : ''}>
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
${parts.head}
</head>
<body>
  <header>
    <a href="/">The Sample Leaf</a>
    <nav><a href="/tea/one">Guides</a> <a href="/shop/sencha-a">Shop</a> <a href="/feeds/hardware.xml">News</a></nav>
  </header>
  <main>
${parts.main}
  </main>
  <aside><h2>Newsletter</h2><p>One letter a month about leaves and water. Leave whenever you like.</p></aside>
  <footer><p>The Sample Leaf is invented: no shop, no price and no person on these pages is real.</p></footer>
</body>
</html>
`
