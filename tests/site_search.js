// Asks the site's own search as a browser would: node site_search.js SITE QUERY... prints the first address for each.
const fs = require("fs")
const vm = require("vm")

const [site, ...queries] = process.argv.slice(2)
const workers = `${site}/assets/javascripts/workers`
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name))
const waiting = []
let handle = null
const page = {
  URL, Intl, performance, setTimeout, console,
  location: new URL("http://localhost/"),
  postMessage: (message) => waiting.shift()(message),
  addEventListener: (type, handler) => { if (type === "message") handle = handler },
}
page.self = page
vm.runInContext(fs.readFileSync(`${workers}/${worker}`, "utf8"), vm.createContext(page))

const SETUP = 0, QUERY = 2
const send = (message) => new Promise((done) => { waiting.push(done); handle({ data: message }) })

async function main() {
  const index = JSON.parse(fs.readFileSync(`${site}/search/search_index.json`, "utf8"))
  await send({ type: SETUP, data: { ...index, options: { suggest: false } } })
  for (const query of queries) {
    const { data } = await send({ type: QUERY, data: query })
    console.log(data.items.length ? data.items[0][0].location : "")
  }
}

main().catch((error) => { console.error(error); process.exit(1) })
