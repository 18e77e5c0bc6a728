package konveyor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
)

// javaProject makes a project of n Java files that use what rules are about,
// with build files, descriptors and properties.
func javaProject(n int) fstest.MapFS {
	rng := rand.New(rand.NewPCG(1, 2))
	imports := []string{"javax.ejb.Stateless", "javax.persistence.Entity", "javax.inject.Inject", "java.util.Date", "java.io.File",
		"java.util.concurrent.Executors", "javax.naming.InitialContext", "org.springframework.stereotype.Service",
		"org.apache.log4j.Logger", "javax.servlet.http.HttpServlet", "java.util.List", "java.sql.Connection", "org.junit.Test"}
	fsys := fstest.MapFS{}
	for i := range n {
		var b strings.Builder
		pkg := fmt.Sprintf("com.example.app%d", i%20)
		fmt.Fprintf(&b, "package %s;\n\n", pkg)
		var used []string
		for _, imp := range imports {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(&b, "import %s;\n", imp)
				used = append(used, imp[strings.LastIndexByte(imp, '.')+1:])
			}
		}
		fmt.Fprintf(&b, "\n/** Class %d of the generated project. */\npublic class Class%d {\n", i, i)
		for m := range 20 {
			fmt.Fprintf(&b, "    private String field%d = \"value %d\";\n\n    public void method%d(String input, int count) throws Exception {\n", m, m, m)
			for _, u := range used {
				if rng.IntN(4) == 0 {
					fmt.Fprintf(&b, "        %s local%s = new %s();\n        local%s.toString();\n", u, u, u, u)
				}
			}
			fmt.Fprintf(&b, "        for (int i = 0; i < count; i++) {\n            System.out.println(field%d + input.trim() + i);\n        }\n    }\n\n", m)
		}
		b.WriteString("}\n")
		fsys[fmt.Sprintf("src/main/java/%s/Class%d.java", strings.ReplaceAll(pkg, ".", "/"), i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	fsys["pom.xml"] = &fstest.MapFile{Data: []byte("<project><dependencies><dependency><groupId>log4j</groupId><artifactId>log4j</artifactId><version>1.2.17</version></dependency></dependencies></project>")}
	fsys["src/main/resources/application.properties"] = &fstest.MapFile{Data: []byte("server.port=8080\nspring.datasource.url=jdbc:h2:mem\n")}
	fsys["src/main/webapp/WEB-INF/web.xml"] = &fstest.MapFile{Data: []byte(`<web-app xmlns="http://xmlns.jcp.org/xml/ns/javaee" version="3.1"><distributable/></web-app>`)}
	return fsys
}

// bundles makes n files of bundled JavaScript of about size bytes each.
func bundles(n, size int) fstest.MapFS {
	rng := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("exports module require object prototype call apply length push slice value props state render " +
		"component children className onClick event target innerText onSelect setLabel pageIndex cardinal modality a b c d e f g h i j")
	fsys := fstest.MapFS{}
	for i := range n {
		var b strings.Builder
		for line := 0; b.Len() < size; line++ {
			fmt.Fprintf(&b, "%s.%s=%s(%s,%d);", words[rng.IntN(len(words))], words[rng.IntN(len(words))], words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(1000))
			if line%8 == 7 {
				b.WriteByte('\n')
			}
		}
		fsys[fmt.Sprintf("dist/chunk%d/index.js", i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return fsys
}

func benchmarkRun(b *testing.B, fsys fstest.MapFS) {
	set, _ := Load(rulesets(b))
	var size int64
	for _, f := range fsys {
		size += int64(len(f.Data))
	}
	b.SetBytes(size)
	b.ResetTimer()
	found := 0
	for b.Loop() {
		res, err := set.Run(context.Background(), FromFS(fsys, "/app"), RunOptions{})
		if err != nil {
			b.Fatal(err)
		}
		found = len(res.Incidents)
	}
	b.ReportMetric(float64(found), "incidents")
}

// All published rules over 500 Java files.
func BenchmarkJavaProject(b *testing.B) { benchmarkRun(b, javaProject(500)) }

// All published rules, 688 text patterns among them, over 2,500 bundled files.
func BenchmarkBundledJavaScript(b *testing.B) { benchmarkRun(b, bundles(2500, 20<<10)) }

func BenchmarkLoad(b *testing.B) {
	dir := rulesets(b)
	for b.Loop() {
		Load(dir)
	}
}

func BenchmarkPlan(b *testing.B) {
	set, _ := Load(rulesets(b))
	rules := set.Rules()
	for b.Loop() {
		if _, err := newPlan(rules); err != nil {
			b.Fatal(err)
		}
	}
}
