// Holds what every sample says of itself, and the page behind `intent: "demo"`. Invented for this purpose: no merchant, no
// live price.

export const SAMPLE_NOTICE =
  'This is a sample that ships with the gateway. Its pages, shops and news are invented; prices and stock are not live ' +
  'merchant data.'

export const SAMPLE_BASE_URL = 'https://shop.example/tea/sencha'

export const SAMPLE_HTML = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Sencha, first harvest | Example Tea Room</title>
  <meta name="description" content="A sample product page: green tea from an invented shop.">
  <meta name="author" content="Mina Sample">
  <meta property="og:site_name" content="Example Tea Room">
  <meta property="article:published_time" content="2026-01-15T09:00:00Z">
  <link rel="canonical" href="https://shop.example/tea/sencha">
  <script type="application/ld+json">
  {"@context": "https://schema.org", "@type": "Product", "name": "Sencha, first harvest",
   "brand": {"@type": "Brand", "name": "Example Tea Room"}, "sku": "SAMPLE-100", "gtin13": "9506000134352",
   "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR",
              "availability": "https://schema.org/InStock"}}
  </script>
</head>
<body>
  <nav><a href="/">Home</a> <a href="/tea">All teas</a></nav>
  <main>
    <h1>Sencha, first harvest</h1>
    <p>Leaves of the first harvest are steamed within a day of picking, which keeps their colour and
       their <em>fresh</em>, slightly sweet taste.</p>
    <h2>How to brew</h2>
    <ol>
      <li>Let the water cool to seventy degrees.</li>
      <li>Steep one spoon of leaves for ninety seconds.</li>
      <li>Pour it off completely; the leaves give a second cup.</li>
    </ol>
    <table>
      <caption>Sizes</caption>
      <tr><th>Size</th><th>Price</th></tr>
      <tr><td>50 g</td><td>7.00 EUR</td></tr>
      <tr><td>100 g</td><td>12.50 EUR</td></tr>
    </table>
    <p>More about it in our <a href="/guides/green-tea">guide to green tea</a>.</p>
  </main>
  <footer>Example Tea Room is not a real shop.</footer>
</body>
</html>
`
