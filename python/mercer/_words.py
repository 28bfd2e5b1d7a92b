"""Words of the headers of model files, which compressed headers refer to.

What has been pickled with these words can only be read with them: they are never changed. Words of another kind would be a second list.
"""

_SETTINGS = """[["nu",0.5],["epsilon",0.1],["lambda",1.0],["components",2.0],["centre",true],["solver","auto"],["tolerance",1e-8],["tolerance",1e-9],\
["tolerance",0.0001],["max_iterations",1000.0],["bias",true],["bias",false],["bias_scale",1.0],["loss","epsilon_insensitive"],\
["loss","squared_epsilon_insensitive"],["class_weight","balanced"],["c",1.0],["loss","squared_hinge"],["tolerance",0.0001],["max_iterations",1000.0],\
["bias",true],["bias_scale",1.0],["class_weight","none"]],"kernel":"linear","readout":["c",1.0],["loss","hinge"],["bias",true],["strategy","one_vs_one"],\
["class_weight","none"],["tolerance",0.001],["max_iterations",0.0],["cache",200.0]],"""

_REPORTS = """"novelty","coordinates":{"names":["pc1","pc2","pc3"]}},"values":{"names":["y"]}},"arg_max":{"labels":["0","1"]}},\
"vote":{"labels":["-1","0","1","2","3","4","5","6","7","8","9"]}},"status":"iteration_limit","time_limit","advice":["c is the bound of most support vectors: the \
classes overlap at this kernel; a larger c or another kernel would use them better"],"objective":null,"duality_gap":null,"violation":null,"support":null,\
"storage":"kernel matrix stored in f64, MiB","notes":[["components","eigenvalue_1",],["explained_1",],["explained",0.]],["relative_residual",e-16],["loo_rmse",0.],\
["rho",],["radius",],["margin_errors",],["stored in f32, KiB",],"storage":"explicit features, no kernel matrix","notes":[["dual_objective",]]},\
"proof":{"status":"converged","iterations":0,"iterations_of_each":[,"objective":-,"duality_gap":0.0,"violation":0.000,"support":100,"storage":"rows in f32, up to \
64.0 MiB kept","notes":[["kernel_rows",.0],["kernel_evaluations",.0],["squared_norm",],["loose_offsets",0.0],["primal_objective",],["bounded_multipliers",.0]]},\
"coefficients":"dual","coefficients":{"primal":{"width":4,"scale":1.0}},"coefficients":{"pairwise":{"count":3}},"centrings":0,\
"views":[{"name":"x","kind":"sparse","kind":"dense32","kind":"dense","len":0,"width":4}],"schema":null,"trained_on":200,"candidates":1,\
"origin":{"fingerprint":"200--0000000000000000","sample":"200  16 ","weighted":true,"weighted":false,"learned":[{"step":"class_balance","bits":0.0,"from":"all"}],\
{"step":"kernel_numbers","bits":64.0,"from":"all"}],"learned":[],"numbers_chosen":0,"balanced":false},"""

_JOBS = """"calibration":{"method":"platt","folds":3,"curves":[{"platt":{"a":-,"b":-}},"kernel":"polynomial(degree=3, gamma=scale, offset=0)","sigmoid(gamma=scale, \
offset=0)","laplacian(gamma=scale)","normalise(linear)","precomputed","rbf(gamma=0.0","machine":"kernel_pca","ridge","linear_svr","linear_svc","one_class","nu_svr",\
"nu_svc","svr",\
"job":{"calibration_folds":0,"candidates":1,"columns":{"categorical":[],"cells":[],"missing":"error","raw":[],"scale":null,"target":null,"text":[],"views":[],\
"weights":null},"conformal":null,"kernel":"linear","machine":"linear_svc","numbers_taken":0,"probabilities":"platt","probabilities":null,"seed":0,\
"settings":[["c",1.0],["loss","squared_hinge"],["tolerance",0.0001],["max_iterations",1000.0],["bias",true],["bias_scale",1.0]]}}\
"kernel":"rbf(gamma=scale)","machine":"svc","numbers_taken":0,"probabilities":null,"seed":0,\
"settings":[["nu",0.5],["c",1.0],["epsilon",0.1],["tolerance",0.001],["cache",200.0],["max_iterations",0.0]]}}"""

_START = """{"__metadata__":{"checksum":"","mercer":"{\\"format\\":1,\\"written_by\\":\\"mercer 0.1.0\\",\\"machine\\":\\"svc\\",\\"settings\\":[["""

_ARRAYS = """"alpha":{"data_offsets":[0,],"dtype":"F64","shape":[]},"classes":{"data_offsets":[,],"dtype":"U32","shape":[]},\
"offsets":{"data_offsets":[0,8],"dtype":"F64","shape":[1]},"points":{"data_offsets":[,],"dtype":"U64","shape":[]},"learned.0.numbers":{\
"view.0.values":{"data_offsets":[8,8],"dtype":"F32","shape":[0,]},"view.0.starts":{"data_offsets":[,],"dtype":"U64","shape":[]},"view.0.indices":{"data_offsets":[,],\
"dtype":"U32","shape":[]},"view.0.values":{"data_offsets":[8,],"dtype":"F64","shape":[0,4]},"weights":{"data_offsets":[8,],"dtype":"F64","shape":[4,1]}}"""

# what is most like the end of a header comes last
WORDS = (_ARRAYS + (_SETTINGS + _REPORTS + _JOBS).replace('"', '\\"') + _START).encode()
