// The one page that every example of a web fetch reads.

export const ARTICLE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>How green tea is steeped</title>
    <meta name="author" content="A. Sample" />
  </head>
  <body>
    <main>
      <article>
        <h1>How green tea is steeped</h1>
        <p>By A. Sample, <time datetime="2026-01-15">15 January 2026</time></p>
        <p>Green tea is steeped for three minutes at eighty degrees. Hotter water makes it bitter, and a longer wait does too.</p>
        <p>Two grams of leaves are enough for a cup. They can be used a second time, for half as long.</p>
      </article>
    </main>
  </body>
</html>
`
