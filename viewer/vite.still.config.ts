import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";

/** Rules for a page become rules for a shadow tree: its host is the root, and lengths do not depend on the page around. */
const scoped = (css: string) =>
  css
    .replace(/:root:not\((\[[^\]]*\])\)/g, ":host(:not($1))")
    .replace(/:root(\[[^\]]*\])/g, ":host($1)")
    .replace(/:root/g, ":host")
    .replace(/(^|[}])body\{/g, "$1:host{display:block;")
    .replace(/(\d*\.?\d+)rem\b/g, (_, size: string) => `${Math.round(Number(size) * 15 * 1000) / 1000}px`);

/**
 * One module with everything. Each call of `load` makes the code anew, with a state of its own, since a notebook shows
 * several results on one page. The default export is a widget of anywidget.
 */
const oneModule: Plugin = {
  name: "one-module",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      let css = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type !== "asset") continue;
        css += String(file.source);
        delete bundle[name];
      }
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        file.code = [
          `const css=${JSON.stringify(scoped(css))};`,
          `const load=()=>{${file.code.trim()}\nreturn Treetop};`,
          "const mount=(place,snapshot)=>load().mount(place,snapshot,css);",
          'const render=({model,el})=>mount(el,JSON.parse(model.get("snapshot")));',
          "export{mount};",
          "export default{render};",
          "",
        ].join("\n");
      }
    },
  },
};

// For `result.show()` and `result.html()`: the built file is part of the Python package.
export default defineConfig({
  plugins: [preact(), oneModule],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../treetop/show", emptyOutDir: false, cssCodeSplit: false,
    lib: { entry: "src/still/mount.tsx", formats: ["iife"], name: "Treetop", fileName: () => "viewer.js" },
  },
});
